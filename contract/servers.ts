// Servers and sites as the dashboard sees them. They belong to the account and come from the inventory.
import * as z from "zod/mini";
import { id } from "./values.ts";

export const server = z
  .object({
    id,
    name: z.string(),
    /** IANA name; schedules of this server are read in it. */
    time_zone: z.string(),
    /** Memory of the machine in MB, null where it is not known. */
    memory: z.nullable(z.int()),
  })
  .register(z.globalRegistry, { id: "Server" });
export type Server = z.infer<typeof server>;

export const site = z
  .object({
    id,
    server_id: id,
    name: z.string(),
    /** Absolute path of the site's folder on its server. */
    root: z.string(),
    /** The command before `queue:work`, as an argument list. */
    artisan: z.array(z.string()),
  })
  .register(z.globalRegistry, { id: "Site" });
export type Site = z.infer<typeof site>;

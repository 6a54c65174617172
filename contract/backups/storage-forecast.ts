// What a storage will hold: the backups that are there and those that come, as retention leaves them.
import * as z from "zod/mini";
import { timestamp } from "../values.ts";

/** How far it looks. */
export const forecastDays = 365;

const bytes = z.int().check(z.gte(0));

/** An extra: of the storage that a configuration's next backup goes to. */
export const storageForecast = z
  .object({
    /** Null where nobody can tell, as of S3. */
    free_bytes: z.nullable(bytes),
    /** Of all backups there, of whichever configuration. */
    stored_bytes: bytes,
    /** The same at the end of the time that is looked at. */
    later_bytes: bytes,
    /** When there will be no more room, within that time; null = not in it, or the room is not known. */
    full_at: z.nullable(timestamp),
    /** How many configurations store there. */
    configurations: z.int(),
  })
  .register(z.globalRegistry, { id: "StorageForecast" });
export type StorageForecast = z.infer<typeof storageForecast>;

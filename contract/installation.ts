// Describes the installation: its version, and whether sites are isolated.
import * as z from "zod/mini";

export const installation = z
  .object({
    version: z.string(),
    /** The account that the service runs as, e.g. `root`. */
    account: z.string(),
    /** Whether each site's code runs as its own account; false = as the service's account, whose files it can read. */
    isolates_sites: z.boolean(),
    /** Events that webhooks can choose; absent = the service does not let them choose. */
    events: z.optional(z.array(z.string())),
  })
  .register(z.globalRegistry, { id: "Installation" });
export type Installation = z.infer<typeof installation>;

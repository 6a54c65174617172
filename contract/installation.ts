// What the service says of itself: which version, and how much a site's code could reach.
import * as z from "zod/mini";

export const installation = z
  .object({
    version: z.string(),
    /** The account that the service runs as, e.g. `root`. */
    account: z.string(),
    /** Each site's code runs as an account of its own; false = as the service's, whose files it can read then. */
    isolates_sites: z.boolean(),
    /** What webhooks can choose from; absent = they cannot choose. */
    events: z.optional(z.array(z.string())),
  })
  .register(z.globalRegistry, { id: "Installation" });
export type Installation = z.infer<typeof installation>;

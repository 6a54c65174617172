// The service's description of itself: its version, and how far the code of a site could reach.
import * as z from "zod/mini";

export const installation = z
  .object({
    version: z.string(),
    /** The account that the service runs as, e.g. `root`. */
    account: z.string(),
    /**
     * Whether the code of each site runs as an account of its own; false = as the service's account, whose files it can
     * then read.
     */
    isolates_sites: z.boolean(),
    /** The events that webhooks can subscribe to; absent = webhooks cannot choose. */
    events: z.optional(z.array(z.string())),
  })
  .register(z.globalRegistry, { id: "Installation" });
export type Installation = z.infer<typeof installation>;

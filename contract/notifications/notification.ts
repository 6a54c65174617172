// The account's notification channels as one site uses them.
import * as z from "zod/mini";
import { id } from "../values.ts";

export const channelTypes = ["slack", "discord", "email"] as const;
export type ChannelType = (typeof channelTypes)[number];

export const notification = z
  .object({
    id,
    name: z.string(),
    type: z.string().register(z.globalRegistry, { examples: [...channelTypes] }),
    /** Where it goes, abbreviated: enough to recognise, too little to use. */
    meta: z.object({ webhook: z.optional(z.string()), email: z.optional(z.string()) }),
  })
  .register(z.globalRegistry, { id: "Notification" });
export type Notification = z.infer<typeof notification>;

/** The whole set at once; an empty list clears it. */
export const updateNotificationsBody = z
  .object({ channels: z.array(id).check(z.maxLength(100)) })
  .register(z.globalRegistry, { id: "UpdateNotifications" });

// The account's notification channels, and which of them a site or server uses.
import * as z from "zod/mini";
import { id, stateOf, timestamp } from "../values.ts";

export const channelTypes = ["slack", "discord", "email"] as const;
export type ChannelType = (typeof channelTypes)[number];

const shown = {
  id,
  name: z.string(),
  type: z.string().register(z.globalRegistry, { examples: [...channelTypes] }),
  /** An abbreviated address: enough to recognize, too little to use. */
  meta: z.object({ webhook: z.optional(z.string()), email: z.optional(z.string()) }),
};

export const notification = z.object(shown).register(z.globalRegistry, { id: "Notification" });
export type Notification = z.infer<typeof notification>;

/** The events that each channel of a site or server is notified about. */
export const notificationEvents = z
  .object({
    // A service may use other words, and other events.
    channels: z.array(z.object({ id, events: z.union([z.string(), z.array(z.string())]) })),
  })
  .register(z.globalRegistry, { id: "NotificationEvents" });
export type NotificationEvents = z.infer<typeof notificationEvents>;

/** `retrying`: the provider failed, and the message will be sent again; `failed`: it will not. */
const channelMessageStates = ["pending", "retrying", "delivered", "failed"] as const;
export type ChannelMessageState = (typeof channelMessageStates)[number];

/** A message to a channel, sent or to be sent. */
export const channelMessage = z
  .object({
    id,
    channel_id: id,
    /** The event that the message is about; `channel.test` for a manual test. */
    event: z.string(),
    title: z.string(),
    /** Number of events that the message coalesces. */
    count: z.int(),
    status: stateOf(channelMessageStates),
    /** The provider's last response, or why there was none. */
    answer: z.nullable(z.string()),
    attempts: z.int(),
    next_attempt_at: z.nullable(timestamp),
    created_at: timestamp,
    ended_at: z.nullable(timestamp),
  })
  .register(z.globalRegistry, { id: "ChannelMessage" });
export type ChannelMessage = z.infer<typeof channelMessage>;

/** One of the account's channels; an extra. */
export const notificationChannel = z
  .object({
    ...shown,
    /** Why no message can be sent with the present configuration; null = messages can be sent. */
    trouble: z.nullable(z.string()),
    last_message: z.nullable(channelMessage),
  })
  .register(z.globalRegistry, { id: "NotificationChannel" });
export type NotificationChannel = z.infer<typeof notificationChannel>;

// The account's notification channels, and those of them that a site uses.
import * as z from "zod/mini";
import { id, stateOf, timestamp } from "../values.ts";

export const channelTypes = ["slack", "discord", "email"] as const;
export type ChannelType = (typeof channelTypes)[number];

const shown = {
  id,
  name: z.string(),
  type: z.string().register(z.globalRegistry, { examples: [...channelTypes] }),
  /** Where it goes, abbreviated: enough to recognise, too little to use. */
  meta: z.object({ webhook: z.optional(z.string()), email: z.optional(z.string()) }),
};

export const notification = z.object(shown).register(z.globalRegistry, { id: "Notification" });
export type Notification = z.infer<typeof notification>;

/** What each of the channels that a site or server uses is notified about. */
export const notificationEvents = z
  .object({
    // A service may know other words, and other events.
    channels: z.array(z.object({ id, events: z.union([z.string(), z.array(z.string())]) })),
  })
  .register(z.globalRegistry, { id: "NotificationEvents" });
export type NotificationEvents = z.infer<typeof notificationEvents>;

/** `retrying`: the provider failed and is tried again; `failed`: it is not. */
const channelMessageStates = ["pending", "retrying", "delivered", "failed"] as const;
export type ChannelMessageState = (typeof channelMessageStates)[number];

/** A message that a channel gets, sent or still to send. */
export const channelMessage = z
  .object({
    id,
    channel_id: id,
    /** The event that the message is about; `channel.test` for a test by hand. */
    event: z.string(),
    title: z.string(),
    /** How many events of its kind it coalesces. */
    count: z.int(),
    status: stateOf(channelMessageStates),
    /** What the provider said last, or why it could not be asked. */
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
    /** Why nothing can be sent to it as it is set up; null = something can. */
    trouble: z.nullable(z.string()),
    last_message: z.nullable(channelMessage),
  })
  .register(z.globalRegistry, { id: "NotificationChannel" });
export type NotificationChannel = z.infer<typeof notificationChannel>;

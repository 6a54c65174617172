// Deliveries: one for each event and webhook, with all its attempts.
import * as z from "zod/mini";
import { id, stateOf, timestamp } from "../values.ts";

/** `retrying`: an attempt failed and another one will follow; `failed`: none will. */
export const deliveryStates = ["pending", "retrying", "delivered", "failed"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** Seconds between an attempt and the next one, before jitter; the first attempt is made at once. */
export const retrySeconds = [
  5,
  5 * 60,
  30 * 60,
  2 * 3600,
  5 * 3600,
  10 * 3600,
  14 * 3600,
  20 * 3600,
  24 * 3600,
] as const;
/** Maximum number of attempts, unless a user redelivers the event. */
export const maxAttempts = retrySeconds.length + 1;

/** How many bytes of a receiver's response are stored. */
export const keptAnswerBytes = 4096;

const summary = {
  id,
  webhook_id: id,
  event: z.string(),
  status: stateOf(deliveryStates),
  /** Why the last attempt failed, for the operator; null once it is delivered. */
  status_reason: z.nullable(z.string()),
  /** The status code of the newest attempt; null = there was no response. */
  code: z.nullable(z.int()),
  duration_ms: z.nullable(z.int()),
  attempts: z.int(),
  next_attempt_at: z.nullable(timestamp),
  /** An older delivery about the same object, which is sent first; null = none. */
  waits_for: z.optional(z.nullable(id)),
  created_at: timestamp,
  ended_at: z.nullable(timestamp),
};

export const deliverySummary = z
  .object(summary)
  .register(z.globalRegistry, { id: "WebhookDeliverySummary" });
export type DeliverySummary = z.infer<typeof deliverySummary>;

export const eventParameter = "filter[event]";

const headers = z.record(z.string(), z.string());

const deliveryAttempt = z.object({
  number: z.int(),
  /** Destination of the request; null in attempts of older versions. */
  url: z.optional(z.nullable(z.string())),
  started_at: timestamp,
  duration_ms: z.int(),
  /** Null = there was no response, and `error` says why. */
  code: z.nullable(z.int()),
  error: z.nullable(z.string()),
  request_headers: headers,
  response_headers: z.nullable(headers),
  /** The first 4 KiB of the response. */
  response_body: z.nullable(z.string()),
});
export type DeliveryAttempt = z.infer<typeof deliveryAttempt>;

export const delivery = z
  .object({
    ...summary,
    /** Header `webhook-id` of every attempt. */
    message_id: z.string(),
    url: z.string(),
    /** The exact bytes of the request's body. */
    body: z.string(),
    /** Newest first. */
    attempt_list: z.array(deliveryAttempt),
  })
  .register(z.globalRegistry, { id: "WebhookDelivery" });
export type Delivery = z.infer<typeof delivery>;

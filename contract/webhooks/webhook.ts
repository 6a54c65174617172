// A site's webhooks: URLs that are called when events happen on the site.
import * as z from "zod/mini";
import { id, stateOf, timestamp } from "../values.ts";
import { deliverySummary } from "./delivery.ts";

/**
 * A webhook that is disabled (by the service, after failures) or paused (by a user) gets only pings and manual
 * redeliveries. The first of these that is accepted enables a disabled webhook again; a paused one stays paused until a
 * user enables it.
 */
const webhookStates = ["enabled", "disabled", "paused"] as const;
export type WebhookState = (typeof webhookStates)[number];

const shown = {
  id,
  url: z.string(),
  created_at: timestamp,
  // The fields below are extras.
  site_id: z.optional(id),
  /** Its purpose; empty = not specified. */
  description: z.optional(z.string()),
  /** The events that it subscribes to; null = all. */
  events: z.optional(z.nullable(z.array(z.string()))),
  status: z.optional(stateOf(webhookStates)),
  /** Why it is disabled, for the operator. */
  status_reason: z.optional(z.nullable(z.string())),
  /** Since when it is disabled; null while it is enabled. */
  disabled_since: z.optional(z.nullable(timestamp)),
  /** Since when it is paused; null while it is not. */
  paused_since: z.optional(z.nullable(timestamp)),
  /** Since when every attempt has failed; null = the last attempt succeeded. */
  failing_since: z.optional(z.nullable(timestamp)),
  /** Until when the receiver has asked by `Retry-After` for a pause; null = it has not, or the pause is over. */
  paused_until: z.optional(z.nullable(timestamp)),
  /** Number of deliveries missed while it was disabled or paused. They can be sent once it is enabled. */
  missed_deliveries: z.optional(z.int()),
  /** During a rotation: until when the previous secret also signs. */
  previous_secret_until: z.optional(z.nullable(timestamp)),
  last_delivery: z.optional(z.nullable(deliverySummary)),
};

export const webhook = z.object(shown).register(z.globalRegistry, { id: "Webhook" });
export type Webhook = z.infer<typeof webhook>;

/** A webhook with its secret, which only the response to its creation contains. */
export const webhookWithSecret = z
  .object({
    ...shown,
    /** `whsec_` and base64 of 32 random bytes, as in Standard Webhooks; an extra. */
    secret: z.optional(z.string()),
  })
  .register(z.globalRegistry, { id: "WebhookWithSecret" });
export type WebhookWithSecret = z.infer<typeof webhookWithSecret>;

/** How long the previous secret also signs after a rotation. */
export const rotationHours = 24;

/** The result of a request to redeliver several deliveries. */
export const redelivered = z
  .object({
    count: z.int(),
    /** Number of deliveries that are still to be sent again, beyond the maximum of one request. */
    remaining: z.optional(z.int()),
  })
  .register(z.globalRegistry, { id: "Redelivered" });
export type Redelivered = z.infer<typeof redelivered>;

/** Maximum number of deliveries that one request sends again. */
export const maxRedelivered = 1000;

// A site's webhooks: the URLs that are called when something happens on it.
import * as z from "zod/mini";
import { id, stateOf, timestamp } from "../values.ts";
import { deliverySummary } from "./delivery.ts";

/**
 * A disabled one, which the service gave up, and a paused one, which a user paused, get nothing but pings and redeliveries
 * by hand. The first of these that is taken enables a disabled one again; a paused one stays so until a user enables it.
 */
const webhookStates = ["enabled", "disabled", "paused"] as const;
export type WebhookState = (typeof webhookStates)[number];

const shown = {
  id,
  url: z.string(),
  created_at: timestamp,
  // From here on: extras.
  site_id: z.optional(id),
  /** What it is for; empty = nobody said. */
  description: z.optional(z.string()),
  /** The events that it gets; null = all. */
  events: z.optional(z.nullable(z.array(z.string()))),
  status: z.optional(stateOf(webhookStates)),
  /** Why it is disabled, in the operator's words. */
  status_reason: z.optional(z.nullable(z.string())),
  /** Since when it is disabled; null while it is enabled. */
  disabled_since: z.optional(z.nullable(timestamp)),
  /** Since when it is paused; null while it is not. */
  paused_since: z.optional(z.nullable(timestamp)),
  /** Since when every attempt has failed; null = the last one did not. */
  failing_since: z.optional(z.nullable(timestamp)),
  /** The receiver asked with `Retry-After` to be left alone until then; null = it did not, or that is over. */
  paused_until: z.optional(z.nullable(timestamp)),
  /** How many deliveries it missed while it was disabled or paused; they can be sent once it is enabled. */
  missed_deliveries: z.optional(z.int()),
  /** While a rotation lasts: until when the secret before this one signs too. */
  previous_secret_until: z.optional(z.nullable(timestamp)),
  last_delivery: z.optional(z.nullable(deliverySummary)),
};

export const webhook = z.object(shown).register(z.globalRegistry, { id: "Webhook" });
export type Webhook = z.infer<typeof webhook>;

/** A webhook with its secret, which is answered when it is made and never again. */
export const webhookWithSecret = z
  .object({
    ...shown,
    /** `whsec_` and base64 of 32 random bytes, as Standard Webhooks has it; an extra. */
    secret: z.optional(z.string()),
  })
  .register(z.globalRegistry, { id: "WebhookWithSecret" });
export type WebhookWithSecret = z.infer<typeof webhookWithSecret>;

/** For how long the secret before a rotation signs too. */
export const rotationHours = 24;

/** What was asked to be sent once more. */
export const redelivered = z
  .object({
    count: z.int(),
    /** How many more there are: one request sends so many at the most. */
    remaining: z.optional(z.int()),
  })
  .register(z.globalRegistry, { id: "Redelivered" });
export type Redelivered = z.infer<typeof redelivered>;

/** So many deliveries are sent once more by one request. */
export const maxRedelivered = 1000;

// A site's webhooks: the URLs that are called when something happens on it.
import * as z from "zod/mini";
import { stateOf, id, storableText, timestamp } from "../values.ts";
import { deliverySummary } from "./delivery.ts";

/** A disabled one gets nothing but pings and redeliveries by hand; the first that is taken enables it again. */
const webhookStates = ["enabled", "disabled"] as const;
export type WebhookState = (typeof webhookStates)[number];

const shown = {
  id,
  url: z.string(),
  created_at: timestamp,
  // From here on: extras.
  site_id: z.optional(id),
  status: z.optional(stateOf(webhookStates)),
  /** Why it is disabled, in the operator's words. */
  status_reason: z.optional(z.nullable(z.string())),
  /** Since when it is disabled; null while it is enabled. */
  disabled_since: z.optional(z.nullable(timestamp)),
  /** Since when every attempt has failed; null = the last one did not. */
  failing_since: z.optional(z.nullable(timestamp)),
  /** The receiver asked with `Retry-After` to be left alone until then; null = it did not, or that is over. */
  paused_until: z.optional(z.nullable(timestamp)),
  /** How many deliveries it missed while it was disabled; they can be sent once it is enabled. */
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

/** `https:` or `http:` without credentials. Which hosts may be called is the service's to check. */
const callableUrl = storableText().check(
  z.minLength(1),
  z.maxLength(2048),
  z.refine(
    (text) => {
      const url = URL.parse(text);
      return (
        url !== null &&
        (url.protocol === "https:" || url.protocol === "http:") &&
        url.username === "" &&
        url.password === ""
      );
    },
    { error: "The url field must be an http or https URL without credentials." },
  ),
);

/** What was asked to be sent once more. */
export const redelivered = z
  .object({ count: z.int() })
  .register(z.globalRegistry, { id: "Redelivered" });

export const createWebhookBody = z
  .object({ url: callableUrl })
  .register(z.globalRegistry, { id: "CreateWebhook" });

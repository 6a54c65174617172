// Signs requests by Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { WebhookRow } from "./webhook-store.ts";

const secretBytes = 32;

/** Creates a secret: `whsec_` and base64 of 32 random bytes. */
export const makeSecret = (): string => `whsec_${randomBytes(secretBytes).toString("base64")}`;

type Signed = Pick<WebhookRow, "secret" | "previous_secret" | "previous_secret_until">;

/**
 * Returns the headers by which a receiver verifies a request. For a day after a rotation both secrets sign, the newer one first.
 * @param messageId message id, the same for all attempts
 */
export function signatureHeaders(
  webhook: Signed,
  messageId: string,
  at: Date,
  body: string,
): Record<string, string> {
  const { secret, previous_secret: previous, previous_secret_until: until } = webhook;
  const secrets = previous !== null && until !== null && until > at ? [secret, previous] : [secret];
  return {
    "webhook-id": messageId,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": secrets.map((one) => new Webhook(one).sign(messageId, at, body)).join(" "),
  };
}

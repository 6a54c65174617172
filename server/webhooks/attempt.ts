// Makes one attempt: sends the request of a delivery, and reads the response.
import { readRetryAfter } from "../../contract/retry-after.ts";
import { keptAnswerBytes } from "../../contract/webhooks/delivery.ts";
import type { Clock } from "../clock.ts";
import { bodyOf } from "../events/event.ts";
import type { Claim } from "../jobs/job-runner.ts";
import { SendError } from "../net/send-error.ts";
import type { Sender } from "../net/send.ts";
import type { DeliveryWithEvent } from "./delivery-store.ts";
import { signatureHeaders } from "./signature.ts";
import type { WebhookRow } from "./webhook-store.ts";
import { toError } from "../to-error.ts";

const attemptTimeoutMs = 15_000;

export type Attempt = {
  startedAt: Date;
  durationMs: number;
  /** Null = there was no response. */
  code: number | null;
  isDelivered: boolean;
  /** The receiver has unsubscribed: 410 Gone. */
  isGone: boolean;
  /** Why the attempt failed; null = it was delivered. */
  reason: string | null;
  /** Why there was no response. */
  error: string | null;
  retryAfterMs: number | null;
  requestHeaders: Record<string, string>;
  responseHeaders: Record<string, string> | null;
  responseBody: string | null;
};

/** An attempt with the claim of the job that made it. */
export type MadeAttempt = DeliveryWithEvent & {
  webhook: WebhookRow;
  claim: Claim;
  dueAt: Date;
  attempt: Attempt;
};

export type MakeAttempt = (
  webhook: WebhookRow,
  delivery: DeliveryWithEvent,
  signal: AbortSignal,
) => Promise<Attempt>;

export function createAttempt(options: {
  sender: Sender;
  userAgent: string;
  clock: Clock;
}): MakeAttempt {
  const { sender, userAgent, clock } = options;
  return async (webhook, { event }, signal) => {
    const startedAt = new Date(clock.now());
    const body = bodyOf(event);
    const requestHeaders = {
      "content-type": "application/json",
      "user-agent": userAgent,
      ...signatureHeaders(webhook, event.message_id, startedAt, body),
    };
    const request = { url: webhook.url, method: "POST" as const, headers: requestHeaders, body };
    try {
      const response = await sender.send({
        ...request,
        signal,
        timeoutMs: attemptTimeoutMs,
        keepBytes: keptAnswerBytes,
      });
      const { status: code, durationMs } = response;
      const isDelivered = code >= 200 && code < 300;
      return {
        startedAt,
        durationMs,
        code,
        isDelivered,
        isGone: code === 410,
        reason: isDelivered ? null : reasonOf(code),
        error: null,
        retryAfterMs: isDelivered
          ? null
          : readRetryAfter(response.headers["retry-after"], clock.now()),
        requestHeaders,
        responseHeaders: response.headers,
        responseBody: response.body,
      };
    } catch (error) {
      if (!(error instanceof SendError) && !signal.aborted) throw error;
      const { message } = toError(error);
      return {
        startedAt,
        durationMs: error instanceof SendError ? error.durationMs : 0,
        code: null,
        isDelivered: false,
        isGone: false,
        reason: message,
        error: message,
        retryAfterMs: null,
        requestHeaders,
        responseHeaders: null,
        responseBody: null,
      };
    }
  };
}

function reasonOf(code: number): string {
  if (code >= 300 && code < 400)
    return `Receiver returned a redirect (${code}). Quarterdeck doesn't follow redirects: use the final URL.`;
  if (code === 410) return "Receiver unsubscribed (410 Gone).";
  return `Receiver returned ${code}.`;
}

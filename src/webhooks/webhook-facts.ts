// Facts about webhooks and deliveries beyond their fields. Pure.
import { eventTitles } from "../../contract/event-titles.ts";
import { isInTransit } from "../../contract/states.ts";
import type { DeliverySummary } from "../../contract/webhooks/delivery.ts";
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { lookUp } from "../look-up.ts";

/**
 * Whether the service stores deliveries. The interface has none; a `status` of webhooks is common in other services.
 */
export const hasExtras = ({ failing_since: failing }: Webhook): boolean => failing !== undefined;

/** Whether the service supports changing the webhook and its events. */
export const isChangeable = ({ events }: Webhook): boolean => events !== undefined;

/**
 * Returns the one state to show: `failing` where no attempt of an enabled webhook succeeds, otherwise its status. Null
 * = the service has none.
 */
export const stateOf = ({ status, failing_since: failing }: Webhook): string | null =>
  status === "enabled" && failing ? "failing" : (status ?? null);

/** Returns the name of a webhook on screen. */
export const nameOf = ({ description, url }: Webhook): string => description || hostOf(url);

/** Returns the host of a URL, by which users know it; the whole text where there is none. */
export const hostOf = (url: string): string => URL.parse(url)?.host || url;

/** Returns the title of an event; the name of an unknown event is returned unchanged. */
export const eventWord = (event: string): string => lookUp(eventTitles, event) ?? event;

/** "All events", "Backup failed, Worker failed", "7 events". */
export const eventsText = (events: readonly string[] | null): string =>
  events === null
    ? "All events"
    : events.length > 3
      ? `${events.length} events`
      : events.map(eventWord).join(", ");

/** Returns the response status of the newest attempt. */
export const codeText = ({ code, attempts }: Pick<DeliverySummary, "code" | "attempts">): string =>
  code === null ? (attempts === 0 ? "–" : "No response") : String(code);

/** "34 ms", "1.2 s". */
export const tookText = (ms: number | null): string =>
  ms === null ? "–" : ms < 1000 ? `${ms} ms` : `${Number((ms / 1000).toFixed(1))} s`;

export const attemptsText = (count: number): string =>
  count === 1 ? "1 attempt" : `${count} attempts`;

export const deliveriesText = (count: number): string =>
  count === 1 ? "1 delivery" : `${count} deliveries`;

/** Returns when a delivery is retried automatically; null for a pending one, which is being sent now. */
export const nextAttempt = ({ status, next_attempt_at: next }: DeliverySummary): string | null =>
  status === "pending" ? null : next;

/** A later attempt does not need fast polling. */
const soonMs = 10_000;

/**
 * Returns a delivery as a poll needs it. A `retrying` delivery counts as in transit only when its next attempt is near,
 * because it may be hours away.
 */
export function toMoving({ id, status, next_attempt_at: next }: DeliverySummary, nowMs: number) {
  const isFar = status === "retrying" && next !== null && Date.parse(next) - nowMs > soonMs;
  return { id, status: isFar ? "planned" : status };
}

/** Whether a requested delivery has a result: it has ended, or another attempt is over. */
export const hasCome = (asked: DeliverySummary, now: DeliverySummary): boolean =>
  !isInTransit(now.status) || now.attempts > asked.attempts;

/** Formats a JSON body for reading; other bodies are unchanged. */
export function prettyBody(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

// What the pages say about a webhook and its deliveries beyond their fields. Pure.
import { eventTitles } from "../../contract/event-titles.ts";
import { isInTransit } from "../../contract/states.ts";
import type { DeliverySummary } from "../../contract/webhooks/delivery.ts";
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { lookUp } from "../look-up.ts";

/** Whether its service keeps deliveries of it; the interface knows none, and a state of their own many webhooks have. */
export const hasExtras = ({ failing_since: failing }: Webhook): boolean => failing !== undefined;

/** Whether its service can change it, and lets it choose its events. */
export const isChangeable = ({ events }: Webhook): boolean => events !== undefined;

/** The one state that is shown: its status, unless that hides that nothing arrives. Null = its service tells none. */
export const stateOf = ({ status, failing_since: failing }: Webhook): string | null =>
  status === "enabled" && failing ? "failing" : (status ?? null);

/** What people call it. */
export const nameOf = ({ description, url }: Webhook): string => description || hostOf(url);

/** The host of a URL, which is the part that people know it by; the whole text where there is none. */
export const hostOf = (url: string): string => URL.parse(url)?.host || url;

/** "Backup finished" for `backup.finished`; a service may know events that we do not. */
export const eventWord = (event: string): string => lookUp(eventTitles, event) ?? event;

/** "All events", "Backup failed, Worker failed", "7 events". */
export const eventsText = (events: readonly string[] | null): string =>
  events === null
    ? "All events"
    : events.length > 3
      ? `${events.length} events`
      : events.map(eventWord).join(", ");

/** What the newest attempt was answered. */
export const codeText = ({ code, attempts }: Pick<DeliverySummary, "code" | "attempts">): string =>
  code === null ? (attempts === 0 ? "–" : "No response") : String(code);

/** "34 ms", "1.2 s". */
export const tookText = (ms: number | null): string =>
  ms === null ? "–" : ms < 1000 ? `${ms} ms` : `${Number((ms / 1000).toFixed(1))} s`;

export const attemptsText = (count: number): string =>
  count === 1 ? "1 attempt" : `${count} attempts`;

export const deliveriesText = (count: number): string =>
  count === 1 ? "1 delivery" : `${count} deliveries`;

/** When it is sent again by itself; one that was never sent is on its way already, whatever its service plans. */
export const nextAttempt = ({ status, next_attempt_at: next }: DeliverySummary): string | null =>
  status === "pending" ? null : next;

/** A next attempt that is farther away than this is nothing to hurry for. */
const soonMs = 10_000;

/**
 * A delivery as a poll has to see it. One that is tried again in hours is `retrying` all that time, and
 * moves no more than one that has ended; so it counts as moving when its attempt is near.
 */
export function toMoving({ id, status, next_attempt_at: next }: DeliverySummary, nowMs: number) {
  const isFar = status === "retrying" && next !== null && Date.parse(next) - nowMs > soonMs;
  return { id, status: isFar ? "planned" : status };
}

/** Whether something has come of a delivery that was asked for: it has ended, or one more attempt is over. */
export const hasCome = (asked: DeliverySummary, now: DeliverySummary): boolean =>
  !isInTransit(now.status) || now.attempts > asked.attempts;

/** A body as it is easiest to read; what is not JSON stays as it is. */
export function prettyBody(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

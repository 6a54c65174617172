// Changes a webhook on request: its URL, description and events, and whether it is enabled.
import type { UpdateWebhookBody } from "../../contract/webhooks/bodies.ts";
import { currentActor } from "../activity/actor.ts";
import { recordActivity, type NewActivity } from "../activity/store.ts";
import type { SubscribableEvent } from "../../contract/events.ts";
import type { Clock } from "../clock.ts";
import { recordEvent } from "../events/store.ts";
import { conflict } from "../http/service-error.ts";
import type { SingletonQueue } from "../jobs/singleton-queue.ts";
import type { Connection } from "../store/database.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import { enabledEvent, webhookEntry } from "./event-data.ts";
import { healthy } from "./judge-attempts.ts";
import type { WebhookCounts } from "./metrics.ts";
import { giveUp, missedOf } from "./missed-store.ts";
import { sendNow } from "./sender.ts";
import type { Place, WebhookChange, WebhookRow, WebhookStore } from "./webhook-store.ts";

type ChangeWebhookOptions = {
  webhooks: WebhookStore;
  deliveries: DeliveryStore;
  queue: Pick<SingletonQueue, "ensure">;
  counts: WebhookCounts;
  clock: Clock;
};

type ChangeWebhook = (
  webhook: WebhookRow,
  place: Place,
  change: UpdateWebhookBody,
) => Promise<WebhookRow>;

/** Returns the events without duplicates, sorted; null = all. */
export const chosenEvents = (
  events: readonly SubscribableEvent[] | null | undefined,
): SubscribableEvent[] | null => (events ? [...new Set(events)].toSorted() : null);

const eventsText = (events: readonly string[] | null): string =>
  events === null ? "all" : events.join(", ");

/** Returns the changed columns, and a description of each change for the timeline. */
function newSettings(row: WebhookRow, { url, description, events }: UpdateWebhookBody) {
  const values: WebhookChange = {};
  const words: string[] = [];
  if (url !== undefined && url !== row.url) {
    // Failures of the receiver at the old URL do not count for the new one. A disabled webhook stays disabled until a user or a ping
    // enables it.
    const { disabled_at: _at, disabled_reason: _reason, ...fresh } = healthy;
    Object.assign(values, fresh, { url });
    words.push(`URL: ${url}, before: ${row.url}`);
  }
  if (description !== undefined && description !== row.description) {
    values.description = description;
    words.push(`Description: ${description === "" ? "none" : description}`);
  }
  const chosen = events === undefined ? row.events : chosenEvents(events);
  if (eventsText(chosen) !== eventsText(row.events)) {
    values.events = chosen;
    words.push(`Events: ${eventsText(chosen)}`);
  }
  return { values, words };
}

/** Creates the function that changes a webhook. It throws a conflict if the webhook was deleted. */
export function createChangeWebhook(options: ChangeWebhookOptions): ChangeWebhook {
  const { webhooks, deliveries, queue, counts, clock } = options;

  /** Makes waiting retries due now, because they waited for the receiver at the old URL. */
  async function sendToNewUrl(tx: Connection, row: WebhookRow, now: Date): Promise<void> {
    await queue.ensure(tx, [sendNow(row)]);
    await deliveries.retryNow(tx, row.id, now);
  }

  /** Records that a paused or disabled webhook was enabled. */
  async function recordEnabled(tx: Connection, row: WebhookRow, place: Place): Promise<void> {
    // Other receivers were only notified if the service disabled it: a pause has no event, so neither has its end.
    if (row.disabled_reason === null || row.disabled_at === null)
      return recordActivity(tx, webhookEntry(row, place.serverId, "resumed"));
    const missed = (await missedOf(tx, [row.id])).get(row.id) ?? 0;
    const event = enabledEvent(row, place, {
      since: row.disabled_at,
      missed,
      actor: currentActor(),
    });
    await recordEvent(tx, event);
  }

  return async (webhook, place, change) => {
    const { row, given } = await webhooks.transaction(async (tx) => {
      const now = new Date(clock.now());
      const [before] = await webhooks.lock(tx, [webhook.id]);
      if (before === undefined) throw conflict("The webhook no longer exists.");
      const { values, words } = newSettings(before, change);
      const isEnabled = change.enabled === true && before.disabled_at !== null;
      const isPaused = change.enabled === false && before.paused_at === null;
      if (isEnabled) Object.assign(values, healthy, { paused_at: null });
      if (isPaused)
        Object.assign(values, { paused_at: now, disabled_at: before.disabled_at ?? now });
      if (Object.keys(values).length === 0) return { row: before, given: 0 };
      const after = (await webhooks.update(tx, webhook.id, values)) ?? before;
      if (values.url !== undefined && after.disabled_at === null)
        await sendToNewUrl(tx, after, now);
      const entries: NewActivity[] = [];
      if (words.length > 0)
        entries.push(webhookEntry(after, place.serverId, "changed", words.join("\n")));
      if (isPaused) entries.push(webhookEntry(after, place.serverId, "paused"));
      await recordActivity(tx, ...entries);
      if (isEnabled) await recordEnabled(tx, { ...before, url: after.url }, place);
      return { row: after, given: isPaused ? await giveUp(tx, webhook.id, pausedText, now) : 0 };
    });
    counts.gaveUp(given);
    return row;
  };
}

const pausedText = "Not sent: the webhook was paused.";

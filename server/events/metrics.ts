// Metrics of events: their number by type, and those left to dispatch.
import { Counter, type Registry } from "prom-client";
import { eventTypes } from "../../contract/events.ts";
import { toSeconds, type MetricsPart } from "../metrics/part.ts";
import { sql } from "../store/drizzle.ts";
import type { EventRow } from "./event.ts";

/** @returns a function that counts dispatched events */
export function countEvents(registry: Registry): (dispatched: readonly EventRow[]) => void {
  const events = new Counter({
    name: "quarterdeck_events_total",
    help: "Events that were handed to the webhooks and channels.",
    labelNames: ["type"],
    registers: [registry],
  });
  for (const type of eventTypes) events.inc({ type }, 0);
  return (dispatched) => {
    for (const { type } of dispatched) events.inc({ type });
  };
}

export const eventMetrics = (nowMs: () => number): MetricsPart => ({
  name: "events",
  async read(tx) {
    const { rows } = await tx.execute<{ many: number; oldest: Date | null }>(
      sql`select count(*)::int as many, min(created_at) as oldest from events where dispatched_at is null`,
    );
    const { many = 0, oldest = null } = rows[0] ?? {};
    const ageSeconds = oldest === null ? 0 : nowMs() / 1000 - toSeconds(new Date(oldest));
    return [
      {
        name: "quarterdeck_events_undispatched",
        help: "Events that are stored and not handed on yet.",
        values: [{ value: many }],
      },
      {
        name: "quarterdeck_events_undispatched_oldest_age_seconds",
        help: "Age of the oldest of them; 0 = there is none.",
        values: [{ value: Math.max(0, ageSeconds) }],
      },
    ];
  },
});

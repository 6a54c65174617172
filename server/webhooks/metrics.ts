// Metrics of webhooks: outcomes and delays of deliveries, the backlog, and disabled webhooks.
import { Counter, Histogram, type Registry } from "prom-client";
import type { DeliveryState } from "../../contract/webhooks/delivery.ts";
import { countsOf, perState, type MetricsPart } from "../metrics/part.ts";
import { sql } from "../store/drizzle.ts";
import type { Attempt } from "./attempt.ts";
import type { DeliveryWithEvent } from "./delivery-store.ts";

export type WebhookCounts = {
  /** To be called after each attempt. @param status the new state of its delivery */
  attempted(tried: DeliveryWithEvent & { attempt: Attempt }, status: DeliveryState): void;
  /** To be called when deliveries ended without another attempt, because their webhook was disabled. */
  gaveUp(many: number): void;
};

const outcomes = ["delivered", "retrying", "failed"] as const;
const buckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 60, 300];

export function createWebhookCounts(registry: Registry): WebhookCounts {
  const registers = [registry];
  const deliveries = new Counter({
    name: "quarterdeck_webhook_deliveries_total",
    help: "Deliveries that came to their end.",
    labelNames: ["outcome"],
    registers,
  });
  const attempts = new Histogram({
    name: "quarterdeck_webhook_attempt_duration_seconds",
    help: "How long receivers took; after a retrying attempt another one follows.",
    labelNames: ["outcome"],
    buckets,
    registers,
  });
  const firstWait = new Histogram({
    name: "quarterdeck_webhook_first_attempt_wait_seconds",
    help: "From an event to the first attempt to deliver it.",
    buckets,
    registers,
  });
  for (const outcome of outcomes) {
    attempts.zero({ outcome });
    if (outcome !== "retrying") deliveries.inc({ outcome }, 0);
  }
  return {
    attempted({ delivery, event, attempt }, outcome) {
      attempts.observe({ outcome }, attempt.durationMs / 1000);
      if (outcome === "delivered" || outcome === "failed") deliveries.inc({ outcome });
      if (delivery.attempts > 0) return;
      const waitMs = attempt.startedAt.getTime() - event.created_at.getTime();
      // The two times come from different clocks, those of the database and of this machine.
      firstWait.observe(Math.max(0, waitMs) / 1000);
    },
    gaveUp: (many) => deliveries.inc({ outcome: "failed" }, many),
  };
}

export const webhookMetrics: MetricsPart = {
  name: "webhooks",
  async read(tx) {
    const { rows: states } = await tx.execute<{ status: string; many: number }>(sql`
      select case when paused_at is not null then 'paused'
        when disabled_at is not null then 'disabled'
        when failing_since is not null then 'failing' else 'reached' end as status,
        count(*)::int as many
      from webhooks group by 1`);
    const { rows: waiting } = await tx.execute<{ status: string; many: number }>(sql`
      select status, count(*)::int as many from webhook_deliveries
      where next_attempt_at is not null group by status`);
    return [
      {
        name: "quarterdeck_webhooks",
        help: "Webhooks; a disabled one was given up, a paused one is off by a user; neither is called.",
        values: perState("state", ["reached", "failing", "disabled", "paused"], countsOf(states)),
      },
      {
        name: "quarterdeck_webhook_deliveries_waiting",
        help: "Deliveries that are still to be made, for the first time or again.",
        values: perState("status", ["pending", "retrying"], countsOf(waiting)),
      },
    ];
  },
};

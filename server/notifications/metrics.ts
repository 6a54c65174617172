// Metrics of notifications: attempts by outcome, and messages left to send.
import { Counter, type Registry } from "prom-client";
import {
  channelTypes,
  type ChannelMessageState,
  type ChannelType,
} from "../../contract/notifications/notification.ts";
import { countsOf, perState, type MetricsPart } from "../metrics/part.ts";
import { sql } from "../store/drizzle.ts";

type Outcome = Exclude<ChannelMessageState, "pending">;

/** @returns a function that counts an attempt by its outcome */
export function countMessages(registry: Registry): (type: ChannelType, outcome: Outcome) => void {
  const attempts = new Counter({
    name: "quarterdeck_notification_attempts_total",
    help: "Attempts to send a notification; a retrying one is tried again, a failed one is not.",
    labelNames: ["type", "outcome"],
    registers: [registry],
  });
  for (const type of channelTypes)
    for (const outcome of ["delivered", "retrying", "failed"]) attempts.inc({ type, outcome }, 0);
  return (type, outcome) => attempts.inc({ type, outcome });
}

export const notificationMetrics: MetricsPart = {
  name: "notifications",
  async read(tx) {
    const { rows } = await tx.execute<{ status: string; many: number }>(sql`
      select status, count(*)::int as many from channel_messages
      where next_attempt_at is not null group by status`);
    return [
      {
        name: "quarterdeck_notifications_waiting",
        help: "Notifications that are still to be sent, for the first time or again.",
        values: perState("status", ["pending", "retrying"], countsOf(rows)),
      },
    ];
  },
};

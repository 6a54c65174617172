// The text that is shown without problems. It claims only what was checked. Pure.
import type { WholeOverview } from "../app/inventory.ts";
import { many } from "./problems.ts";

/** Null = there is nothing to check. */
export function calmText({
  protection,
  workers,
  webhooks,
  channels,
}: WholeOverview): string | null {
  const receivers = webhooks.total + channels.total;
  const parts = [
    protection.total > 0 &&
      `${many(protection.total, "site or database", "sites and databases")} protected`,
    workers.up > 0 && `${many(workers.up, "worker", "workers")} up`,
    receivers > 0 && `${many(receivers, "webhook or channel", "webhooks and channels")} reached`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? null : `No problems: ${parts.join(", ")}.`;
}

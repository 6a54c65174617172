// What several parts of the room say of a webhook: its entry on the timeline, and its job.
import type { NewActivity } from "../activity/store.ts";
import type { NextJob } from "../jobs/singleton-queue.ts";
import type { WebhookRow } from "./webhook-store.ts";

/** A change of a webhook on the timeline, by whoever asked for it. */
export const entryOf = (
  { id, url, site_id }: WebhookRow,
  serverId: number,
  action: string,
  detail?: string,
): NewActivity => ({
  kind: "webhook",
  action,
  object: { type: "webhook", id, name: new URL(url).host },
  server_id: serverId,
  site_id,
  detail: detail ?? null,
});

export const sendNow = ({
  id,
  failing_since: failing,
}: Pick<WebhookRow, "id" | "failing_since">): NextJob => ({
  key: id,
  delayMs: 0,
  isSlow: failing !== null,
});

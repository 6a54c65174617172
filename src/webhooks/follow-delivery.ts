// Watches a delivery that the user requested, and reports its outcome on whichever page the user is.
import { QueryObserver } from "@tanstack/react-query";
import type { DeliverySummary } from "../../contract/webhooks/delivery.ts";
import { isPassing } from "../api/api-error.ts";
import { makePoller } from "../api/poll.ts";
import { invalidate, queryClient } from "../api/query.ts";
import { toast } from "../app/toasts.ts";
import { durationText } from "../ui/time/time-text.ts";
import { serviceNow } from "../service-clock.ts";
import { deliveryQuery } from "./queries.ts";
import { codeText, hasCome, tookText } from "./webhook-facts.ts";

/** @param subject e.g. "Ping to hooks.example.com" */
function tell(subject: string, delivery: DeliverySummary): void {
  const { status, status_reason: reason, duration_ms: ms, next_attempt_at: next } = delivery;
  if (status === "delivered")
    return void toast.success(`${subject} delivered.`, `${codeText(delivery)} in ${tookText(ms)}`);
  const waitMs = next === null ? null : Date.parse(next) - serviceNow();
  const retry =
    status === "retrying" && waitMs !== null ? `Retrying in ${durationText(waitMs)}.` : null;
  toast.failure(`${subject} failed.`, [reason, retry].filter((text) => text !== null).join(" "));
}

/**
 * Reports the outcome of a delivery once.
 * @param asked the response to the request for the delivery
 */
export function followDelivery(subject: string, asked: DeliverySummary): void {
  const poll = makePoller();
  const observer = new QueryObserver(queryClient, {
    ...deliveryQuery(asked.id),
    staleTime: 0,
    refetchInterval: () => poll([asked]),
  });
  const stop = observer.subscribe(({ data, error }) => {
    // The delivery was deleted, or the session has ended: there is nothing to report.
    const isLost = data === null || (error !== null && !isPassing(error));
    const isOver = data !== undefined && data !== null && hasCome(asked, data);
    if (!isLost && !isOver) return;
    stop();
    if (data && isOver) tell(subject, data);
    void invalidate("listWebhooks", "showWebhook", "listDeliveries");
  });
}

// Updates of the cache by actions, before the service is asked again.
import type { Page } from "../../contract/paging.ts";
import type { DeliverySummary } from "../../contract/webhooks/delivery.ts";
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { patchAnswers, queryClient } from "../api/query.ts";
import { deliveryQuery } from "./queries.ts";

/** Removes a deleted webhook from the cached lists. */
export const dropWebhook = (id: number): void =>
  patchAnswers("listWebhooks", (list) => {
    const data = list.data.filter((webhook) => webhook.id !== id);
    const total = list.meta.total - (list.data.length - data.length);
    return { ...list, data, meta: { ...list.meta, total } };
  });

/** Updates a delivery in all cached responses about it or its webhook. */
export function patchDelivery(summary: DeliverySummary): void {
  const { id, webhook_id: webhookId } = summary;
  const patchOne = (webhook: Webhook): Webhook => {
    // Webhooks show their newest delivery; redelivering an older one does not make it the newest.
    const isNewest = id >= (webhook.last_delivery?.id ?? 0);
    return webhook.id === webhookId && isNewest ? { ...webhook, last_delivery: summary } : webhook;
  };
  patchAnswers("showWebhook", patchOne);
  patchAnswers("listWebhooks", (list) => ({ ...list, data: list.data.map(patchOne) }));
  const { queryKey, queryFn: _ } = deliveryQuery(id);
  queryClient.setQueryData(queryKey, (before: object | null | undefined) =>
    before === null || before === undefined ? before : { ...before, ...summary },
  );
  queryClient.setQueriesData<Page<DeliverySummary> | null>(
    { queryKey: ["listDeliveries", { id: webhookId }] },
    (list) => list && { ...list, data: list.data.map((one) => (one.id === id ? summary : one)) },
  );
}

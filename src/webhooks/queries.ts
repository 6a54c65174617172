// Queries of the webhook pages. Deliveries are extras: null for a service without them.
import { addOperations } from "../api/client.ts";
import { webhookExtras, webhookOperations } from "../../contract/webhooks/operations.ts";
import { type Page, statusParameter } from "../../contract/paging.ts";
import { eventParameter } from "../../contract/webhooks/delivery.ts";
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { listQuery, type ListView } from "../api/list-query.ts";
import type { DeliveriesView } from "../paths.ts";
import { pageQuery } from "../api/page-query.ts";
import { extraQuery, query, queryClient } from "../api/query.ts";

addOperations({ ...webhookOperations, ...webhookExtras });

export const webhooksQuery = (siteId: number, view: ListView) =>
  listQuery(view, (wanted) => query("listWebhooks", { id: siteId }, wanted));

export const webhookQuery = (id: number) => query("showWebhook", { id });

/** The explicit default order makes the response include counts by status. */
export const deliveriesQuery = (webhookId: number, { page, status, event, q }: DeliveriesView) =>
  extraQuery(
    "listDeliveries",
    { id: webhookId },
    {
      sort: "-id",
      ...(status !== undefined && { [statusParameter]: status }),
      ...(event !== undefined && { [eventParameter]: event }),
      ...(q !== undefined && { search: q }),
      ...pageQuery(page ?? 1),
    },
  );

/** The service's description of itself, including the events that webhooks can subscribe to. */
export const installationQuery = () => extraQuery("showInstallation", {});

export const deliveryQuery = (id: number) => extraQuery("showDelivery", { id });

/** Copies a webhook from a cached list to its own query, so that its page opens at once. */
export function seedWebhook(id: number): void {
  const { queryKey } = webhookQuery(id);
  if (queryClient.getQueryData(queryKey) !== undefined) return;
  const lists = queryClient.getQueriesData<Page<Webhook>>({ queryKey: ["listWebhooks"] });
  const found = lists.flatMap(([, list]) => list?.data ?? []).find((webhook) => webhook.id === id);
  // Dated as old, so that it is shown and refetched.
  if (found !== undefined) queryClient.setQueryData(queryKey, found, { updatedAt: 0 });
}

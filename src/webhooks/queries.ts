// What the webhook pages ask the service. Deliveries are extras: null from a service that keeps none.
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

/** Asked for in its own order by name, a list also says how many deliveries there are of each status. */
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

/** What the service says of itself: also, which events a webhook can choose from. */
export const installationQuery = () => extraQuery("showInstallation", {});

export const deliveryQuery = (id: number) => extraQuery("showDelivery", { id });

/** Puts what a list knows of a webhook where its own page looks, so that the page opens at once. */
export function seedWebhook(id: number): void {
  const { queryKey } = webhookQuery(id);
  if (queryClient.getQueryData(queryKey) !== undefined) return;
  const lists = queryClient.getQueriesData<Page<Webhook>>({ queryKey: ["listWebhooks"] });
  const found = lists.flatMap(([, list]) => list?.data ?? []).find((webhook) => webhook.id === id);
  // As old as can be: it is shown, and asked for anew.
  if (found !== undefined) queryClient.setQueryData(queryKey, found, { updatedAt: 0 });
}

import { eventTypes } from "../../contract/events.ts";
import { servedOperations } from "../../contract/served-operations.ts";
import type { PathParams } from "../../contract/operation.ts";
import { eventParameter } from "../../contract/webhooks/delivery.ts";
import { listFilters } from "../http/list-filters.ts";
import { filteredListRoute, reply, route, type Caller, type Route } from "../http/route.ts";
import { createSiteFinder } from "../inventory/finders.ts";
import type { InventoryStore } from "../inventory/store.ts";
import { toDelivery, toSummary, toWebhook, toWebhookWithSecret } from "./serializer.ts";
import type { WebhookService } from "./webhook-service.ts";

type ById = PathParams<typeof servedOperations.showWebhook>;

export function webhookRoutes(service: WebhookService, inventory: InventoryStore): Route[] {
  const findSite = createSiteFinder(inventory);
  const findWebhook = async ({ id }: ById, caller: Caller) => {
    const found = await service.withSite(id);
    return found !== null && caller.reaches(found.serverId) ? found : null;
  };
  const findDelivery = async ({ id }: ById, caller: Caller) => {
    const found = await service.findDelivery(id);
    const place = found && (await findWebhook({ id: found.delivery.webhook_id }, caller));
    return place && { ...found, ...place };
  };

  return [
    filteredListRoute(servedOperations.listWebhooks, {
      find: findSite,
      filters: listFilters.listWebhooks,
      list: async (page, { found: site }) => {
        const { rows, ...counted } = await service.list(site.id, page);
        const beside = await service.besideOf(rows);
        return { items: rows.map((row) => toWebhook(row, beside(row))), ...counted };
      },
    }),
    route(servedOperations.showWebhook, {
      find: findWebhook,
      handle: async ({ found: { webhook } }) => {
        const beside = await service.besideOf([webhook]);
        return reply(200, toWebhook(webhook, beside(webhook)));
      },
    }),
    route(servedOperations.createWebhook, {
      find: findSite,
      check: ({ fields: { url } }) => service.checkUrl(url),
      handle: async ({ found: site, body }) => {
        const row = await service.create(site, body);
        const beside = await service.besideOf([row]);
        return reply(201, toWebhookWithSecret(row, beside(row)), `/api/site-webhook/${row.id}`);
      },
    }),
    route(servedOperations.updateWebhook, {
      find: findWebhook,
      // An unchanged URL, which a form sends too, is not checked again: that was done when it was stored, and is at each attempt.
      check: ({ fields: { url }, found: { webhook } }) =>
        service.checkUrl(url === webhook.url ? undefined : url),
      handle: async ({ found, body }) => {
        const row = await service.change(found.webhook, found, body);
        const beside = await service.besideOf([row]);
        return reply(200, toWebhook(row, beside(row)));
      },
    }),
    route(servedOperations.deleteWebhook, {
      find: findWebhook,
      handle: async ({ found: { webhook, serverId } }) => {
        await service.remove(webhook, serverId);
        return reply(204);
      },
    }),
    filteredListRoute(servedOperations.listDeliveries, {
      find: findWebhook,
      filters: listFilters.listDeliveries,
      more: [eventParameter],
      list: async (request, { found: { webhook }, query }) => {
        const text = query[eventParameter];
        const events = text ? text.split(",") : null;
        // Unknown event types match no delivery.
        const known = events && eventTypes.filter((type) => events.includes(type));
        const { rows, ...counted } = await service.listDeliveries(webhook.id, request, known);
        return { items: rows.map(toSummary), ...counted };
      },
    }),
    route(servedOperations.showDelivery, {
      find: findDelivery,
      handle: async ({ found }) =>
        reply(200, toDelivery(found, found.webhook, await service.attempts(found.delivery.id))),
    }),
    route(servedOperations.redeliver, {
      find: findDelivery,
      handle: async ({ found }) =>
        reply(202, toSummary(await service.redeliver(found, found.webhook, found.serverId))),
    }),
    route(servedOperations.redeliverMissed, {
      find: findWebhook,
      handle: async ({ found: { webhook, serverId }, body }) =>
        reply(202, await service.sendAgain(webhook, serverId, body)),
    }),
    route(servedOperations.pingWebhook, {
      find: findWebhook,
      handle: async ({ found }) => reply(202, toSummary(await service.ping(found.webhook, found))),
    }),
    route(servedOperations.rotateWebhookSecret, {
      find: findWebhook,
      handle: async ({ found: { webhook, serverId } }) => {
        const row = await service.rotate(webhook, serverId);
        const beside = await service.besideOf([row]);
        return reply(200, toWebhookWithSecret(row, beside(row)));
      },
    }),
  ];
}

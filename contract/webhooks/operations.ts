// The webhooks' operations: their rows of the table `contract/operations.ts`.
import { operation } from "../operation.ts";
import { filteredListOf } from "../paging.ts";
import { delivery, deliverySummary } from "./delivery.ts";
import { redelivered, webhook, webhookWithSecret } from "./webhook.ts";

/** The operations of the interface. */
export const webhookOperations = {
  listWebhooks: operation({
    tag: "webhooks",
    path: "/api/site/{id}/webhooks",
    ...filteredListOf(webhook),
  }),
  showWebhook: operation({
    tag: "webhooks",
    method: "GET",
    path: "/api/site-webhook/{id}",
    responses: { 200: webhook },
  }),
  createWebhook: operation({
    tag: "webhooks",
    method: "POST",
    path: "/api/site/{id}/webhook",
    responses: { 201: webhookWithSecret },
  }),
  deleteWebhook: operation({
    tag: "webhooks",
    method: "DELETE",
    path: "/api/site-webhook/{id}",
    responses: { 204: null },
  }),
};

export const webhookExtras = {
  updateWebhook: operation({
    tag: "webhooks",
    method: "PUT",
    path: "/api/site-webhook/{id}",
    responses: { 200: webhook },
  }),
  listDeliveries: operation({
    tag: "webhooks",
    path: "/api/site-webhook/{id}/deliveries",
    ...filteredListOf(deliverySummary),
  }),
  showDelivery: operation({
    tag: "webhooks",
    method: "GET",
    path: "/api/webhook-delivery/{id}",
    responses: { 200: delivery },
  }),
  redeliver: operation({
    tag: "webhooks",
    method: "POST",
    path: "/api/webhook-delivery/{id}/redeliver",
    responses: { 202: deliverySummary },
  }),
  redeliverMissed: operation({
    tag: "webhooks",
    method: "POST",
    path: "/api/site-webhook/{id}/redeliver",
    responses: { 202: redelivered },
  }),
  pingWebhook: operation({
    tag: "webhooks",
    method: "POST",
    path: "/api/site-webhook/{id}/ping",
    responses: { 202: deliverySummary },
  }),
  rotateWebhookSecret: operation({
    tag: "webhooks",
    method: "POST",
    path: "/api/site-webhook/{id}/secret",
    responses: { 200: webhookWithSecret },
  }),
};

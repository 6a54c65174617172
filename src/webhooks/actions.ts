// Actions on webhooks and deliveries, and why they may be impossible.
import type { DeliverySummary } from "../../contract/webhooks/delivery.ts";
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import type { CreateWebhookBody, UpdateWebhookBody } from "../../contract/webhooks/bodies.ts";
import { cacheParent } from "../api/parent-cache.ts";
import { call } from "../api/client.ts";
import { isLast, useMutation } from "../api/mutate.ts";
import { invalidate, queryClient } from "../api/query.ts";
import { toast } from "../app/toasts.ts";
import { followDelivery } from "./follow-delivery.ts";
import { dropWebhook, patchDelivery } from "./patches.ts";
import { webhookQuery } from "./queries.ts";
import { deliveriesText, hostOf, nameOf } from "./webhook-facts.ts";

/** Cancels running requests, whose responses would not include the change. */
const forgetAnswers = async (...names: string[]) => {
  await Promise.all(names.map((name) => queryClient.cancelQueries({ queryKey: [name] })));
};

const deliveryNames = ["listWebhooks", "showWebhook", "listDeliveries", "showDelivery"] as const;

/** Returns why a delivery cannot be sent again now, by the same rule as the service. */
export const redeliverRefusal = ({ status }: Pick<DeliverySummary, "status">): string | undefined =>
  status === "pending" ? "Can't redeliver while the status is pending." : undefined;

const pingKey = ["ping a webhook"];
const removeKey = ["delete a webhook"];
const changeKey = ["change a webhook"];

/** Pings a webhook. The caller reports the outcome. */
export const pingMutation = {
  mutationKey: pingKey,
  mutationFn: ({ id }: Webhook) => call("pingWebhook", { id }),
  onMutate: () => forgetAnswers(...deliveryNames),
  onSuccess: (delivery: DeliverySummary) => patchDelivery(delivery),
  // Not awaited: polls pause during a mutation, which ends here.
  onSettled: () => {
    if (isLast(pingKey)) void invalidate("listWebhooks", "showWebhook", "listDeliveries");
  },
};

/** Deletes a webhook. The confirmation shows errors. */
export const removeMutation = {
  mutationKey: removeKey,
  mutationFn: ({ id }: Webhook) => call("deleteWebhook", { id }),
  onMutate: () => forgetAnswers(...deliveryNames),
  onSuccess: (_answer: unknown, { id }: Webhook) => dropWebhook(id),
  // Only the lists are refetched; the deleted webhook would get a 404.
  onSettled: () => {
    if (isLast(removeKey)) void invalidate("listWebhooks");
  },
};

/** Returns why a webhook cannot be paused or enabled now. A disabled webhook cannot be paused. */
export function switchRefusal({ status }: Webhook, enabled: boolean): string | undefined {
  if ((status === "enabled") !== enabled) return undefined;
  return `Can't ${enabled ? "enable" : "pause"} while the status is ${status}.`;
}

/** Changes a webhook. Its page shows the response at once. */
export const changeMutation = {
  mutationKey: changeKey,
  mutationFn: ({ id, body }: { id: number; body: UpdateWebhookBody }) =>
    call("updateWebhook", { id }, { body }),
  onMutate: () => forgetAnswers(...deliveryNames),
  onSuccess: (webhook: Webhook) =>
    void queryClient.setQueryData(webhookQuery(webhook.id).queryKey, webhook),
  onSettled: () => {
    if (isLast(changeKey)) void invalidate(...deliveryNames);
  },
};

/** Pauses and enables webhooks. */
export function useSwitch() {
  const { mutate, isPending: isSwitching } = useMutation({
    ...changeMutation,
    onSuccess: (webhook, { id }) => {
      changeMutation.onSuccess(webhook);
      const isPaused = webhook.status === "paused";
      const undo = { label: "Undo", run: () => mutate({ id, body: { enabled: true } }) };
      toast.success(
        `Webhook ${nameOf(webhook)} ${isPaused ? "paused" : "enabled"}.`,
        undefined,
        isPaused ? undo : undefined,
      );
    },
    onError: (error, { body: { enabled } }) =>
      toast.failure(`Couldn't ${enabled ? "enable" : "pause"} the webhook.`, error),
  });
  const setEnabled = ({ id }: Webhook, enabled: boolean) => mutate({ id, body: { enabled } });
  return { setEnabled, isSwitching };
}

/** Redelivers everything that has failed since a given time; null = ever. The confirmation shows errors. */
export async function redeliverFailed(webhook: Webhook, since: string | null): Promise<void> {
  const body = { status: "failed" as const, ...(since !== null && { since }) };
  const { count, remaining = 0 } = await call("redeliverMissed", { id: webhook.id }, { body });
  const more =
    remaining === 0 ? undefined : `${deliveriesText(remaining)} left. Send again for more.`;
  toast.success(
    count === 0
      ? "No failed deliveries to send."
      : `Sending ${deliveriesText(count)} to ${nameOf(webhook)}.`,
    more,
  );
  void invalidate(...deliveryNames);
}

/** Returns functions that stay the same over the life of the component. */
export function useWebhookActions() {
  const { mutate: ping, isPending: isPinging } = useMutation({
    ...pingMutation,
    onSuccess: (delivery, { url }) => {
      patchDelivery(delivery);
      followDelivery(`Ping to ${hostOf(url)}`, delivery);
    },
    onError: (error, { url }) => toast.failure(`Couldn't ping ${hostOf(url)}.`, error),
  });
  const { mutateAsync: remove } = useMutation(removeMutation);
  return { ping, isPinging, remove };
}

/** Sends a delivery again. */
export function useRedeliver() {
  const { mutate: redeliver, isPending: isRedelivering } = useMutation({
    mutationFn: ({ id }: DeliverySummary) => call("redeliver", { id }),
    onMutate: () => forgetAnswers(...deliveryNames),
    onSuccess: (delivery) => {
      patchDelivery(delivery);
      followDelivery(`Delivery ${delivery.id}`, delivery);
    },
    onError: (error, { id }) => toast.failure(`Couldn't redeliver delivery ${id}.`, error),
    onSettled: () => void invalidate(...deliveryNames),
  });
  return { redeliver, isRedelivering };
}

/** Sends the deliveries that a webhook missed while it was disabled. */
export function useRedeliverMissed() {
  const { mutate: redeliverMissed, isPending: isRedelivering } = useMutation({
    mutationFn: ({ id }: Webhook) => call("redeliverMissed", { id }, { body: {} }),
    onMutate: () => forgetAnswers(...deliveryNames),
    onSuccess: ({ count }, { url }) =>
      void toast.success(`Sending ${deliveriesText(count)} to ${hostOf(url)}.`),
    onError: (error, { url }) =>
      toast.failure(`Couldn't send the missed deliveries to ${hostOf(url)}.`, error),
    onSettled: () => void invalidate(...deliveryNames),
  });
  return { redeliverMissed, isRedelivering };
}

/**
 * Creates a new secret. Without `useMutation`, whose cache would keep the response for minutes.
 * @returns the secret; null for a service that does not return it
 */
export async function rotateSecret(id: number): Promise<string | null> {
  const { secret, ...webhook } = await call("rotateWebhookSecret", { id });
  queryClient.setQueryData(webhookQuery(id).queryKey, webhook);
  return secret ?? null;
}

/** Creates a webhook. Its secret is returned and not cached, as in `rotateSecret`. */
export async function createWebhook(siteId: number, body: CreateWebhookBody) {
  const { secret, ...webhook } = await call("createWebhook", { id: siteId }, { body });
  queryClient.setQueryData(webhookQuery(webhook.id).queryKey, webhook);
  cacheParent("listWebhooks", webhook.id, siteId);
  // Not awaited: the secret is shown next, not a list.
  void invalidate("listWebhooks");
  return { webhook, secret: secret ?? null };
}

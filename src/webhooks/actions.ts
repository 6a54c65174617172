// What can be done to a webhook and its deliveries, and why it sometimes cannot.
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

/** An answer that is on its way knows nothing of what is asked for now. */
const forgetAnswers = async (...names: string[]) => {
  await Promise.all(names.map((name) => queryClient.cancelQueries({ queryKey: [name] })));
};

const deliveryNames = ["listWebhooks", "showWebhook", "listDeliveries", "showDelivery"] as const;

/** Why a delivery cannot be sent again now; the service refuses the same. */
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
  // Not awaited: polls rest while a mutation is under way, and this one ends here.
  onSettled: () => {
    if (isLast(pingKey)) void invalidate("listWebhooks", "showWebhook", "listDeliveries");
  },
};

/** Deletes a webhook. The dialog that asked reports a failure. */
export const removeMutation = {
  mutationKey: removeKey,
  mutationFn: ({ id }: Webhook) => call("deleteWebhook", { id }),
  onMutate: () => forgetAnswers(...deliveryNames),
  onSuccess: (_answer: unknown, { id }: Webhook) => dropWebhook(id),
  // The page of what is gone would end on "Not found"; the lists alone are asked for anew.
  onSettled: () => {
    if (isLast(removeKey)) void invalidate("listWebhooks");
  },
};

/** Why a webhook cannot be paused, or enabled, now. One that is disabled is not sent to either way. */
export function switchRefusal({ status }: Webhook, enabled: boolean): string | undefined {
  if ((status === "enabled") !== enabled) return undefined;
  return `Can't ${enabled ? "enable" : "pause"} while the status is ${status}.`;
}

/** Changes a webhook, which its page shows at once. */
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

/** Sends again whatever failed since a moment; null = ever. The question that led to it reports a failure. */
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

/** Pings and deletes webhooks. The functions stay the same over the life of the component. */
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

/** Sends what a webhook missed while it was disabled. */
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
 * Makes a new secret. Called without `useMutation`, whose cache would keep the answer for minutes.
 * @returns the secret; null from a service that does not show it
 */
export async function rotateSecret(id: number): Promise<string | null> {
  const { secret, ...webhook } = await call("rotateWebhookSecret", { id });
  queryClient.setQueryData(webhookQuery(id).queryKey, webhook);
  return secret ?? null;
}

/** Makes a webhook; its secret is handed on and kept nowhere, as above. */
export async function createWebhook(siteId: number, body: CreateWebhookBody) {
  const { secret, ...webhook } = await call("createWebhook", { id: siteId }, { body });
  queryClient.setQueryData(webhookQuery(webhook.id).queryKey, webhook);
  cacheParent("listWebhooks", webhook.id, siteId);
  // Not awaited: what is shown next is the secret, and no list.
  void invalidate("listWebhooks");
  return { webhook, secret: secret ?? null };
}

import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { mutate } from "../api/mutate.ts";
import { BulkBar, type BulkProps } from "../bulk/BulkBar.tsx";
import { type BulkAction, goneIsDone } from "../bulk/bulk-task.ts";
import type { IconName } from "../ui/Icon.tsx";
import { changeMutation, pingMutation, removeMutation, switchRefusal } from "./actions.ts";
import { hasExtras, isChangeable } from "./webhook-facts.ts";

const always = () => undefined;

const ping: BulkAction<Webhook> = {
  label: "Ping",
  icon: "send",
  keys: "p",
  title: (what) => `Ping ${what}`,
  done: "sent",
  refusal: always,
  run: (webhook) => mutate(pingMutation, webhook),
  // A failed attempt counts as failed, because the next one may be hours away.
  seen: ({ last_delivery: last }) => ({
    status: last?.status === "retrying" ? "failed" : last?.status,
    reason: last?.status_reason,
  }),
};

const toSwitch = (label: string, icon: IconName, enabled: boolean): BulkAction<Webhook> => ({
  label,
  icon,
  title: (what) => `${label} ${what}`,
  done: enabled ? "enabled" : "paused",
  refusal: (webhook) => switchRefusal(webhook, enabled),
  run: ({ id }) => mutate(changeMutation, { id, body: { enabled } }),
});

const pause = toSwitch("Pause", "pause", false);
const enable = toSwitch("Enable", "play", true);

const remove: BulkAction<Webhook> = {
  label: "Delete",
  icon: "trash",
  keys: "#",
  title: (what) => `Delete ${what}`,
  done: "deleted",
  refusal: always,
  question: (webhooks) => ({
    body: (
      <p>
        Quarterdeck stops sending events to {webhooks.length === 1 ? "this URL" : "these URLs"}.
        {webhooks.some(hasExtras) && " Delivery histories and secrets are deleted."}
      </p>
    ),
  }),
  run: (webhook) => goneIsDone(mutate(removeMutation, webhook)),
};

export function WebhookBulk(props: BulkProps<Webhook>) {
  return (
    <BulkBar
      {...props}
      nameOf={({ url }) => url}
      one="webhook"
      many="webhooks"
      failed="failing,disabled"
      actions={[
        // Services without deliveries have no pings, and some do not support changes.
        ...(props.items.every(isChangeable) ? [pause, enable] : []),
        ...(props.items.every(hasExtras) ? [ping] : []),
        remove,
      ]}
    />
  );
}

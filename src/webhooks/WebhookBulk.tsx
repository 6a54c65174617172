// What can be done with many webhooks at once.
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { mutate } from "../api/mutate.ts";
import { BulkBar, type BulkProps } from "../bulk/BulkBar.tsx";
import { type BulkAction, goneIsDone } from "../bulk/bulk-task.ts";
import { pingMutation, removeMutation } from "./actions.ts";
import { hasExtras } from "./webhook-facts.ts";

const always = () => undefined;

const ping: BulkAction<Webhook> = {
  label: "Ping",
  icon: "send",
  keys: "p",
  title: (what) => `Ping ${what}`,
  done: "sent",
  refusal: always,
  run: (webhook) => mutate(pingMutation, webhook),
  // A receiver that does not take it now may take it in hours.
  seen: ({ last_delivery: last }) => ({
    status: last?.status === "retrying" ? "failed" : last?.status,
    reason: last?.status_reason,
  }),
};

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
      // A service without deliveries has no pings.
      actions={props.items.every(hasExtras) ? [ping, remove] : [remove]}
    />
  );
}

// What can be done with many webhooks at once.
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { mutate } from "../api/mutate.ts";
import { BulkBar, type BulkProps } from "../app/bulk/BulkBar.tsx";
import { type BulkAction, goneIsDone } from "../app/bulk/bulk-task.ts";
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
        {webhooks.length === 1 ? "It is" : "They are"} not called any more.
        {webhooks.some(hasExtras) &&
          " The history of what was sent there is lost, and each secret."}
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
      // A service without deliveries has no pings.
      actions={props.items.every(hasExtras) ? [ping, remove] : [remove]}
    />
  );
}

import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { Button } from "../ui/button/Button.tsx";
import { Notice } from "../ui/feedback/Notice.tsx";
import { useRedeliverMissed } from "./actions.ts";
import { deliveriesText } from "./webhook-facts.ts";

/** The number of deliveries that a webhook missed while it was disabled, with a button that sends them. */
export function MissedDeliveries({ webhook }: { webhook: Webhook }) {
  const { redeliverMissed, isRedelivering } = useRedeliverMissed();
  const { missed_deliveries: missed = 0, status } = webhook;
  if (missed === 0) return null;
  return (
    <Notice
      tone="warn"
      actions={
        <Button
          size="sm"
          isChange
          isPending={isRedelivering}
          disabledReason={
            status === "disabled"
              ? "Enable the webhook first, or ping it. A successful ping enables the webhook."
              : status === "paused"
                ? "Enable the webhook first."
                : undefined
          }
          onClick={() => redeliverMissed(webhook)}
        >
          Send missed deliveries
        </Button>
      }
    >
      <p>
        {deliveriesText(missed)} missed while{" "}
        {status === "paused" ? "paused" : "disabled or paused"}.
      </p>
    </Notice>
  );
}

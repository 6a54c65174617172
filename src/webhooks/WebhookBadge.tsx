// The state badges of webhooks and deliveries.
import { isInTransit } from "../../contract/states.ts";
import type { DeliveryState, DeliverySummary } from "../../contract/webhooks/delivery.ts";
import type { Webhook, WebhookState } from "../../contract/webhooks/webhook.ts";
import { FailingFor } from "../app/FailingFor.tsx";
import { StateBadge, type StateLook } from "../app/StateBadge.tsx";
import { lookUp } from "../look-up.ts";
import { Time } from "../ui/time/Time.tsx";
import { stateOf } from "./webhook-facts.ts";

const webhookLooks: Record<WebhookState | "failing", StateLook> = {
  enabled: { tone: "good", help: "Receives the site's events." },
  failing: { tone: "bad", help: "Every attempt fails. Quarterdeck retries automatically." },
  disabled: { tone: "bad", help: "Receives no events." },
  paused: { tone: "idle", help: "Receives no events until a user enables it. Events are kept." },
};

const deliveryLooks: Record<DeliveryState, StateLook> = {
  pending: { tone: "busy", help: "Not sent yet." },
  retrying: { tone: "warn", help: "The last attempt failed. Quarterdeck retries automatically." },
  delivered: { tone: "good", help: "The receiver accepted the delivery." },
  failed: { tone: "bad", help: "All attempts failed. Redeliver to try again." },
};

/** Renders nothing for a service without states of webhooks. */
export function WebhookBadge({ webhook }: { webhook: Webhook }) {
  const state = stateOf(webhook);
  if (state === null) return null;
  const since = { failing: webhook.failing_since, paused: webhook.paused_since };
  return (
    <StateBadge
      state={state}
      looks={webhookLooks}
      reason={webhook.status_reason}
      since={lookUp(since, state) ?? webhook.disabled_since}
    />
  );
}

/** Explains the state: since when, and why. Renders nothing for a webhook that works. */
export function WebhookSentence({ webhook }: { webhook: Webhook }) {
  const { status_reason: reason, paused_until: until } = webhook;
  const { failing_since: failing, paused_since: paused } = webhook;
  switch (stateOf(webhook)) {
    case "disabled":
      return reason ? <span className="text-bad wrap-anywhere">Disabled: {reason}</span> : null;
    case "paused":
      return paused ? (
        <span className="text-muted">
          Paused for <Time value={paused} format="duration" />
        </span>
      ) : null;
    case "failing":
      return (
        <>
          {failing && (
            <span className="text-bad">
              <FailingFor since={failing} />
            </span>
          )}
          {until && (
            <span className="text-muted">
              Receiver asked to wait, next attempt <Time value={until} format="coming" />
            </span>
          )}
        </>
      );
    default:
      return null;
  }
}

export function DeliveryBadge({ delivery }: { delivery: DeliverySummary }) {
  const { status, status_reason: reason, created_at: createdAt, ended_at: endedAt } = delivery;
  return (
    <StateBadge
      state={status}
      looks={deliveryLooks}
      // A delivery may be "retrying" for hours without any activity.
      isMoving={isInTransit(status) && status !== "retrying"}
      reason={reason}
      since={endedAt ?? createdAt}
    />
  );
}

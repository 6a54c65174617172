// The state words of webhooks and deliveries.
import { isInTransit } from "../../contract/states.ts";
import type { DeliveryState, DeliverySummary } from "../../contract/webhooks/delivery.ts";
import type { Webhook, WebhookState } from "../../contract/webhooks/webhook.ts";
import { StateBadge, type StateLook } from "../app/StateBadge.tsx";
import { Time } from "../ui/Time.tsx";

const webhookLooks: Record<WebhookState, StateLook> = {
  enabled: { tone: "good", help: "Receives every event of the site." },
  disabled: { tone: "bad", help: "Receives no events." },
  paused: { tone: "idle", help: "Receives no events until a user enables it." },
};

const deliveryLooks: Record<DeliveryState, StateLook> = {
  pending: { tone: "busy", help: "Not sent yet." },
  retrying: { tone: "warn", help: "The last attempt failed. Quarterdeck retries automatically." },
  delivered: { tone: "good", help: "The receiver accepted the delivery." },
  failed: { tone: "bad", help: "All attempts failed. Redeliver to try again." },
};

/** Nothing for a service that keeps no state of its webhooks. */
export function WebhookBadge({ webhook }: { webhook: Webhook }) {
  const { status, status_reason: reason, disabled_since: since, failing_since: failing } = webhook;
  if (status === undefined) return null;
  return (
    <StateBadge
      state={status}
      looks={webhookLooks}
      tone={status === "enabled" && failing ? "warn" : undefined}
      reason={reason}
      since={since}
    />
  );
}

/** For how long nothing has arrived, in words: the badge's word stays the interface's. */
export function FailingFor({ webhook }: { webhook: Webhook }) {
  const { status, failing_since: failing } = webhook;
  // One that is disabled is not tried any more.
  if (status === "disabled" || failing === null || failing === undefined) return null;
  return (
    <span className="text-warn">
      failing for <Time value={failing} format="duration" />
    </span>
  );
}

/** Until when the receiver asked to be left alone. */
export function PausedUntil({ webhook }: { webhook: Webhook }) {
  const { status, paused_until: until } = webhook;
  if (status === "disabled" || until === null || until === undefined) return null;
  return (
    <span className="text-warn">
      paused by the receiver, next attempt <Time value={until} />
    </span>
  );
}

export function DeliveryBadge({ delivery }: { delivery: DeliverySummary }) {
  const { status, status_reason: reason, created_at: createdAt, ended_at: endedAt } = delivery;
  return (
    <StateBadge
      state={status}
      looks={deliveryLooks}
      // "retrying" lasts for hours in which nothing moves.
      isMoving={isInTransit(status) && status !== "retrying"}
      reason={reason}
      since={endedAt ?? createdAt}
    />
  );
}

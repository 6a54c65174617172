// The state words of webhooks and deliveries. A service may know words that we do not, and they are no news either way.
import { isInTransit } from "../../contract/states.ts";
import type { DeliveryState } from "../../contract/webhooks/delivery.ts";
import type { Webhook, WebhookState } from "../../contract/webhooks/webhook.ts";
import { Badge } from "../ui/Badge.tsx";
import { Time } from "../ui/Time.tsx";
import type { Tone } from "../ui/tone.ts";

type Look = { tone: Tone; help: string };

const webhookLooks: Record<WebhookState, Look> = {
  enabled: { tone: "good", help: "It is called for every event of the site" },
  disabled: { tone: "bad", help: "It is not called any more" },
};

const deliveryLooks: Record<DeliveryState, Look> = {
  pending: { tone: "busy", help: "It was not sent yet" },
  retrying: { tone: "warn", help: "It did not arrive yet and is sent again by itself" },
  delivered: { tone: "good", help: "The receiver took it" },
  failed: { tone: "bad", help: "It did not arrive and is not sent again by itself" },
};

function lookOf(looks: Record<string, Look>, word: string): { tone: Tone; help?: string } {
  const look = Object.hasOwn(looks, word) ? looks[word] : undefined;
  return look ?? { tone: isInTransit(word) ? "busy" : "idle" };
}

/** Nothing for a service that keeps no state of its webhooks. */
export function WebhookBadge({ webhook }: { webhook: Webhook }) {
  const { status, status_reason: reason, failing_since: failing } = webhook;
  if (status === undefined) return null;
  const { tone, help } = lookOf(webhookLooks, status);
  const isFailing = tone === "good" && failing !== null && failing !== undefined;
  return (
    <Badge tone={isFailing ? "warn" : tone} tip={reason ?? help}>
      {status}
    </Badge>
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

/** @param tip more than the word says, e.g. why it failed */
export function DeliveryBadge({ status, tip }: { status: string; tip?: string | undefined }) {
  const { tone, help } = lookOf(deliveryLooks, status);
  return (
    // "retrying" lasts for hours in which nothing moves.
    <Badge tone={tone} isMoving={isInTransit(status) && status !== "retrying"} tip={tip ?? help}>
      {status}
    </Badge>
  );
}

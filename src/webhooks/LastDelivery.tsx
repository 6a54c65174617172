import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { Link } from "../app/Link.tsx";
import { paths } from "../paths.ts";
import { Time } from "../ui/time/Time.tsx";
import { DeliveryBadge } from "./WebhookBadge.tsx";
import { codeText, eventWord } from "./webhook-facts.ts";

/** The outcome of the newest delivery; its badge is a link. */
export function LastDelivery({ webhook }: { webhook: Webhook }) {
  const { id, last_delivery: last } = webhook;
  if (last === undefined) return null;
  if (last === null) return <span className="text-muted">No deliveries</span>;
  const event = eventWord(last.event);
  return (
    <>
      <Link
        to={paths.webhook(id, { delivery: last.id })}
        aria-label={`${event}, ${last.status}`}
        className="inline-flex rounded-full align-middle"
      >
        <DeliveryBadge delivery={last} />
      </Link>
      <p className="mt-1 flex flex-wrap gap-x-2 text-xs text-muted">
        <span>{event}</span>
        {last.attempts > 0 && <span className="whitespace-nowrap">{codeText(last)}</span>}
        <Time value={last.created_at} />
      </p>
    </>
  );
}

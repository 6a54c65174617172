import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { confirm } from "../app/confirm.ts";
import { Button } from "../ui/button/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { serviceNow } from "../service-clock.ts";
import { redeliverFailed } from "./actions.ts";
import { nameOf } from "./webhook-facts.ts";

const hourMs = 3_600_000;
const spans: Record<string, { label: string; ms: number | null }> = {
  hour: { label: "Since 1 hour ago", ms: hourMs },
  day: { label: "Since 24 hours ago", ms: 24 * hourMs },
  week: { label: "Since 7 days ago", ms: 7 * 24 * hourMs },
  ever: { label: "All", ms: null },
};

const sinceOf = (span: string): string | null => {
  const ms = spans[span]?.ms ?? null;
  return ms === null ? null : new Date(serviceNow() - ms).toISOString();
};

const refusals: Record<string, string> = {
  paused: "Enable the webhook first.",
  disabled: "Enable the webhook first, or ping it. A successful ping enables the webhook.",
};

type ResendFailedProps = { webhook: Webhook; counts: Readonly<Record<string, number>> };

/** Redelivers everything that has failed since a given time. */
export function ResendFailed({ webhook, counts }: ResendFailedProps) {
  if (!counts["failed"]) return null;
  const ask = () =>
    confirm({
      title: "Resend failed deliveries?",
      body: (
        <p>
          Quarterdeck sends them to {nameOf(webhook)} again, oldest first, with the same message
          ids.
        </p>
      ),
      choices: {
        legend: "Deliveries to send",
        options: Object.entries(spans).map(([value, { label }]) => ({ value, label })),
      },
      action: "Resend",
      run: (span) => redeliverFailed(webhook, sinceOf(span)),
    });
  return (
    <Button size="sm" disabledReason={refusals[webhook.status ?? ""]} onClick={ask}>
      <Icon name="restart" />
      Resend failed
    </Button>
  );
}

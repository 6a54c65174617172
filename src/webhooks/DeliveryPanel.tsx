// The details of a delivery, next to the list: requests and responses by attempt.
import type { ReactNode } from "react";
import type { Delivery } from "../../contract/webhooks/delivery.ts";
import { LinkButton } from "../app/LinkButton.tsx";
import { type DeliveriesView, paths } from "../paths.ts";
import { Button } from "../ui/button/Button.tsx";
import { CopyButton } from "../ui/button/CopyButton.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { Time } from "../ui/time/Time.tsx";
import { redeliverRefusal, useRedeliver } from "./actions.ts";
import { DeliveryAttempt } from "./DeliveryAttempt.tsx";
import { NextAttempt } from "./NextAttempt.tsx";
import { notePlace } from "./opened-delivery.ts";
import { TextBox } from "../ui/text/TextBox.tsx";
import { DeliveryBadge } from "./WebhookBadge.tsx";
import { nextAttempt, prettyBody } from "./webhook-facts.ts";

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="flex min-h-9 items-center justify-between gap-4 border-b border-line py-1">
      <dt className="shrink-0 text-muted">{term}</dt>
      <dd className="min-w-0 text-end wrap-anywhere">{children}</dd>
    </div>
  );
}

function Facts({ delivery }: { delivery: Delivery }) {
  const { event, message_id: messageId, attempts } = delivery;
  const { created_at: created, ended_at: ended } = delivery;
  const next = nextAttempt(delivery);
  return (
    <dl className="px-4 text-sm max-sm:px-3">
      <Fact term="Event">
        <span className="font-mono text-xs">{event}</span>
      </Fact>
      <Fact term="Message id">
        <span className="inline-flex max-w-full items-center gap-1">
          <span className="font-mono text-xs wrap-anywhere">{messageId}</span>
          <CopyButton label="Copy message id" text={() => messageId} />
        </span>
      </Fact>
      <Fact term="Created">
        <Time value={created} />
      </Fact>
      <Fact term="Attempts">{attempts}</Fact>
      {next !== null && (
        <Fact term="Next attempt">
          <NextAttempt value={next} />
        </Fact>
      )}
      {ended !== null && (
        <Fact term="Ended">
          <Time value={ended} />
        </Fact>
      )}
    </dl>
  );
}

type DeliveryPanelProps = { delivery: Delivery; view: DeliveriesView };

export function DeliveryPanel({ delivery, view }: DeliveryPanelProps) {
  const { redeliver, isRedelivering } = useRedeliver();
  const { id, webhook_id: webhookId, status, status_reason: reason, body } = delivery;
  const isTrouble = status === "failed" || status === "retrying";
  return (
    <Panel
      title={`Delivery ${id}`}
      actions={
        <>
          <Button
            size="sm"
            command={{ label: `Redeliver delivery ${id}`, name: "Redeliver", key: "r" }}
            isPending={isRedelivering}
            disabledReason={redeliverRefusal(delivery)}
            onClick={() => redeliver(delivery)}
          >
            <Icon name="restart" />
            Redeliver
          </Button>
          <LinkButton
            to={paths.webhook(webhookId, { ...view, delivery: undefined })}
            onClick={() => notePlace(id)}
            variant="ghost"
            size="icon"
            command={{ label: "Close delivery", name: "Close", key: "Escape", reads: true }}
          >
            <Icon name="close" />
          </LinkButton>
        </>
      }
    >
      <div className="grid justify-items-start gap-1 border-b border-line px-4 py-2.5 max-sm:px-3">
        <DeliveryBadge delivery={delivery} />
        {isTrouble && reason !== null && (
          <p className={`wrap-anywhere ${status === "failed" ? "text-bad" : ""}`}>{reason}</p>
        )}
      </div>
      <Facts delivery={delivery} />
      <div className="px-4 pt-1 pb-4 max-sm:px-3">
        <TextBox title="Request body" text={prettyBody(body)} exact={body} />
      </div>
      {delivery.attempt_list.map((attempt, index) => (
        <DeliveryAttempt key={attempt.number} attempt={attempt} isNewest={index === 0} />
      ))}
    </Panel>
  );
}

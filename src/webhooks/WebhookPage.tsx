// The page of a webhook: state, deliveries, and rotation of the secret.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData, useNavigate } from "react-router";
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { makePoller } from "../api/poll.ts";
import { useLoaded } from "../api/query.ts";
import { Crumbs } from "../app/place/Crumbs.tsx";
import { siteName, siteQuery } from "../app/inventory.ts";
import { leaveFor } from "../app/routing/page-change.ts";
import { paths } from "../paths.ts";
import { Button } from "../ui/button/Button.tsx";
import { CopyButton } from "../ui/button/CopyButton.tsx";
import { handFocusOn } from "../ui/focus/hand-focus-on.ts";
import { Notice } from "../ui/feedback/Notice.tsx";
import { PageHeader } from "../ui/page/PageHeader.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { Properties, type Property } from "../ui/page/Properties.tsx";
import { Time } from "../ui/time/Time.tsx";
import { serviceNow } from "../service-clock.ts";
import { Deliveries } from "./Deliveries.tsx";
import type { webhookLoader } from "./loaders.ts";
import { webhookQuery } from "./queries.ts";
import { WebhookSecret } from "./WebhookSecret.tsx";
import { MissedDeliveries } from "./MissedDeliveries.tsx";
import { UrlText } from "./UrlText.tsx";
import { VerifyHelp } from "./VerifyHelp.tsx";
import { WebhookActions } from "./WebhookActions.tsx";
import { WebhookBadge, WebhookSentence } from "./WebhookBadge.tsx";
import { eventWord, hasExtras, isChangeable, nameOf, stateOf, toMoving } from "./webhook-facts.ts";

function toProperties(webhook: Webhook): Property[] {
  const state = stateOf(webhook);
  const { status_reason: reason, failing_since: failing } = webhook;
  const { previous_secret_until: until, created_at: created, paused_until: waits } = webhook;
  const { description, events, paused_since: paused } = webhook;
  const properties: (Property | null)[] = [
    state === null ? null : { term: "State", value: state },
    reason ? { term: "Reason", value: reason } : null,
    failing ? { term: "Failing since", value: <Time value={failing} /> } : null,
    waits ? { term: "Receiver's wait ends", value: <Time value={waits} format="coming" /> } : null,
    paused ? { term: "Paused since", value: <Time value={paused} /> } : null,
    description ? { term: "Description", value: description } : null,
    events === undefined
      ? null
      : { term: "Events", value: events?.map(eventWord).join(", ") ?? "All events" },
    until
      ? { term: "Previous secret expires", value: <Time value={until} format="coming" /> }
      : null,
    { term: "Created", value: <Time value={created} /> },
  ];
  return properties.filter((property) => property !== null);
}

/**
 * A ref that moves the focus to the secret's title, after the dialog has restored the focus; and onwards when it is
 * hidden.
 */
const focusTitle = (element: HTMLElement | null) => {
  const title = element?.querySelector("h2");
  if (title) {
    title.tabIndex = -1;
    requestAnimationFrame(() => title.focus());
  }
  return handFocusOn(element);
};

export function WebhookPage() {
  const { id, siteId, view, deliveryId } = useLoaderData<typeof webhookLoader>();
  const navigate = useNavigate();
  const [poll] = useState(() => makePoller());
  const { data: site } = useQuery({ ...siteQuery(siteId ?? 0), enabled: siteId !== null });
  // The secret is only in this state: in no cache, storage or URL.
  const [secret, setSecret] = useState<string | null>(null);
  // Polling stops when the deletion begins: it would get a 404 before the list is shown.
  const [isLeaving, setIsLeaving] = useState(false);
  const webhook = useLoaded(
    webhookQuery(id),
    ({ last_delivery: last }) => poll(last ? [toMoving(last, serviceNow())] : []),
    isLeaving,
  );

  const { url, status, status_reason: reason } = webhook;
  const list = siteId === null ? paths.home() : paths.webhooks(siteId);
  const name = siteId === null ? null : siteName(siteId, site);
  const leave = () => {
    setIsLeaving(true);
    leaveFor(navigate, list);
  };

  return (
    <>
      <PageHeader
        title={`Webhook ${id}`}
        context={[nameOf(webhook), ...(name === null ? [] : [name])]}
        crumbs={
          <Crumbs
            items={[
              { label: "Overview", to: paths.home() },
              ...(name === null ? [] : [{ label: `${name} webhooks`, to: list }]),
            ]}
          />
        }
        state={
          <>
            <WebhookBadge webhook={webhook} />
            <span className="flex flex-wrap gap-x-2 text-sm empty:hidden">
              <WebhookSentence webhook={webhook} />
            </span>
          </>
        }
        actions={
          <WebhookActions webhook={webhook} look="words" onSecret={setSecret} onRemoved={leave} />
        }
      />
      {webhook.description && <p className="-mt-4 wrap-anywhere">{webhook.description}</p>}
      <p className="-mt-4 flex min-w-0 items-center gap-1 font-mono text-xs text-muted">
        <UrlText url={url} />
        <CopyButton label="Copy URL" text={() => url} />
      </p>
      {status === "disabled" && (
        <Notice tone="bad">
          <p>
            {reason ?? "Webhook disabled."} Quarterdeck sends no events to this URL. A successful
            ping or redelivery enables the webhook again
            {isChangeable(webhook) && ", and so does Enable"}.
          </p>
        </Notice>
      )}
      <MissedDeliveries webhook={webhook} />
      {secret !== null && (
        <div key={secret} ref={focusTitle}>
          <WebhookSecret title="New signing secret, shown once" secret={secret}>
            {(isKept) => (
              <Button
                disabledReason={
                  isKept ? undefined : "Copy the secret first. The secret is not shown again."
                }
                onClick={() => setSecret(null)}
              >
                Hide secret
              </Button>
            )}
          </WebhookSecret>
        </div>
      )}
      {hasExtras(webhook) ? (
        <Deliveries webhook={webhook} view={view} openId={deliveryId} isLive={!isLeaving} />
      ) : (
        <p className="text-muted">This service doesn't report deliveries.</p>
      )}
      <Panel title="Properties">
        <p className="border-b border-line bg-sunken px-4 py-3 font-mono text-xs wrap-anywhere max-sm:px-3">
          {url}
        </p>
        <Properties items={toProperties(webhook)} />
      </Panel>
      {hasExtras(webhook) && <VerifyHelp />}
    </>
  );
}

// The deliveries of a webhook, page by page, and the details of the open one.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { makePoller } from "../api/poll.ts";
import { LinkButton } from "../app/LinkButton.tsx";
import { PageLinks } from "../app/PageLinks.tsx";
import { type DeliveriesView, paths } from "../paths.ts";
import { EmptyState } from "../ui/feedback/EmptyState.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { serviceNow } from "../service-clock.ts";
import { DeliveryFilters } from "./DeliveryFilters.tsx";
import { DeliveryPanel } from "./DeliveryPanel.tsx";
import { DeliveryTable } from "./DeliveryTable.tsx";
import { ResendFailed } from "./ResendFailed.tsx";
import { useOpenedDelivery } from "./opened-delivery.ts";
import { deliveriesQuery, deliveryQuery } from "./queries.ts";
import { toMoving } from "./webhook-facts.ts";

type DeliveriesProps = {
  webhook: Webhook;
  view: DeliveriesView;
  openId: number | null;
  /** False once the webhook is deleted: requests would get a 404. */
  isLive: boolean;
};

export function Deliveries({ webhook, view, openId, isLive }: DeliveriesProps) {
  const { id } = webhook;
  const { page = 1, status, event, q } = view;
  const isFiltered = status !== undefined || event !== undefined || q !== undefined;
  // Separate pollers, so that neither affects the pace of the other.
  const [pollList] = useState(() => makePoller());
  const [pollOpen] = useState(() => makePoller());
  const opened = useOpenedDelivery(openId);
  const { data: list } = useQuery({
    ...deliveriesQuery(id, view),
    enabled: isLive,
    refetchInterval: ({ state }) =>
      pollList((state.data?.data ?? []).map((one) => toMoving(one, serviceNow()))),
  });
  const { data: delivery } = useQuery({
    ...deliveryQuery(openId ?? 0),
    enabled: isLive && openId !== null,
    refetchInterval: ({ state }) =>
      pollOpen(state.data ? [toMoving(state.data, serviceNow())] : []),
  });
  // The id in the URL may be of another webhook's delivery, which is not shown.
  const shown = delivery?.webhook_id === id ? delivery : null;

  return (
    <div
      className={`grid grid-cols-[minmax(0,1fr)] items-start gap-5 ${openId === null ? "" : "xl:grid-cols-[minmax(0,1fr)_28rem]"}`}
    >
      <Panel
        title="Deliveries"
        actions={list?.meta.counts && <ResendFailed webhook={webhook} counts={list.meta.counts} />}
      >
        {list?.meta.counts && (isFiltered || list.meta.total > 0) && (
          <DeliveryFilters webhookId={id} view={view} counts={list.meta.counts} />
        )}
        {list === null && (
          <p className="px-4 py-3 text-muted max-sm:px-3">
            This service doesn't report deliveries.
          </p>
        )}
        {list && list.data.length > 0 && (
          <DeliveryTable deliveries={list.data} view={view} openId={openId} />
        )}
        {list?.data.length === 0 && page === 1 && isFiltered && (
          <EmptyState
            title="No results"
            action={<LinkButton to={paths.webhook(id)}>Clear filters</LinkButton>}
          >
            No deliveries match the selected filters.
          </EmptyState>
        )}
        {list?.data.length === 0 && page === 1 && !isFiltered && (
          <EmptyState title="No deliveries yet" art="webhooks">
            Quarterdeck sends the site's next event to this URL. Send a ping to test the receiver
            now.
          </EmptyState>
        )}
        {list?.data.length === 0 && page > 1 && (
          <EmptyState
            title={`Page ${page} is empty`}
            action={
              <LinkButton to={paths.webhook(id, { ...view, page: 1 })}>First page</LinkButton>
            }
          />
        )}
        {list && (
          <PageLinks
            meta={list.meta}
            pathOf={(number) => paths.webhook(id, { ...view, page: number })}
          />
        )}
      </Panel>
      {openId !== null && (
        <div
          ref={opened}
          className="scroll-mt-16 xl:sticky xl:top-6 xl:max-h-[calc(100dvh-3rem)] xl:overflow-y-auto"
        >
          {shown === null ? (
            <Panel
              title={`Delivery ${openId}`}
              actions={<LinkButton to={paths.webhook(id, view)}>Close</LinkButton>}
            >
              <p className="px-4 py-3 text-muted max-sm:px-3">
                Delivery not found. The delivery may have been deleted.
              </p>
            </Panel>
          ) : (
            <DeliveryPanel key={shown.id} delivery={shown} view={view} />
          )}
        </div>
      )}
    </div>
  );
}

import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { Link } from "../app/Link.tsx";
import { selectColumn } from "../app/selection/SelectColumn.tsx";
import { paths } from "../paths.ts";
import { actionsColumn, type Column, Table } from "../ui/table/Table.tsx";
import { Time } from "../ui/time/Time.tsx";
import { LastDelivery } from "./LastDelivery.tsx";
import { UrlText, urlTip } from "./UrlText.tsx";
import { WebhookActions } from "./WebhookActions.tsx";
import { WebhookBadge, WebhookSentence } from "./WebhookBadge.tsx";
import { eventsText, hasExtras } from "./webhook-facts.ts";

type WebhookProps = { webhook: Webhook };

/** The state, with an explanation below. */
function State({ webhook }: WebhookProps) {
  return (
    <>
      <WebhookBadge webhook={webhook} />
      <p className="mt-1 flex flex-wrap gap-x-2 text-xs empty:hidden">
        <WebhookSentence webhook={webhook} />
      </p>
    </>
  );
}

/** The URL, with the columns that a narrow table omits. */
function Url({ webhook, isRich }: WebhookProps & { isRich: boolean }) {
  const { id, url, description, events, created_at: created } = webhook;
  return (
    <>
      {description && <p className="font-medium wrap-anywhere">{description}</p>}
      <Link
        to={paths.webhook(id)}
        aria-label={url}
        data-tip={urlTip(url)}
        className="inline-flex min-h-6 max-w-full items-center font-medium underline decoration-edge underline-offset-4 hover:decoration-current"
      >
        <UrlText url={url} />
      </Link>
      {events && <p className="text-xs text-muted">{eventsText(events)}</p>}
      <p className="text-xs text-muted @3xl:hidden">
        created <Time value={created} />
      </p>
      <div className="mt-2 grid gap-2 empty:hidden @2xl:hidden">
        {isRich && (
          <>
            <div>
              <State webhook={webhook} />
            </div>
            <div>
              <p className="text-xs text-muted">Last delivery</p>
              <LastDelivery webhook={webhook} />
            </div>
          </>
        )}
      </div>
    </>
  );
}

// Wide enough for any state, so that a change does not move the columns.
const extraColumns: readonly Column<Webhook>[] = [
  {
    id: "state",
    header: "State",
    from: "sm",
    cell: (webhook) => (
      <div className="w-28 @3xl:w-36">
        <State webhook={webhook} />
      </div>
    ),
  },
  {
    id: "last_delivery",
    header: "Last delivery",
    from: "sm",
    cell: (webhook) => (
      <div className="w-40 @3xl:w-52">
        <LastDelivery webhook={webhook} />
      </div>
    ),
  },
];

const makeColumns = (isRich: boolean): readonly Column<Webhook>[] => [
  selectColumn(({ url }) => url),
  {
    id: "url",
    header: "URL",
    isRest: true,
    cell: (webhook) => <Url webhook={webhook} isRich={isRich} />,
  },
  ...(isRich ? extraColumns : []),
  {
    id: "created",
    header: "Created",
    from: "md",
    cell: ({ created_at: created }) => <Time value={created} />,
  },
  actionsColumn((webhook) => (
    <div className="flex justify-end gap-0.5 @max-2xl:flex-col">
      <WebhookActions webhook={webhook} look="icons" />
    </div>
  )),
];

const fewColumns = makeColumns(false);
const allColumns = makeColumns(true);

export const WebhookTable = ({ webhooks }: { webhooks: readonly Webhook[] }) => (
  <Table
    label="Webhooks"
    // Another service may have neither states nor deliveries.
    columns={webhooks.some(hasExtras) ? allColumns : fewColumns}
    rows={webhooks}
    keyOf={({ id }) => id}
  />
);

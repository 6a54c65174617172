import { useMemo } from "react";
import type { DeliverySummary } from "../../contract/webhooks/delivery.ts";
import { Link } from "../app/Link.tsx";
import { type DeliveriesView, paths } from "../paths.ts";
import { type Column, Table } from "../ui/table/Table.tsx";
import { Time } from "../ui/time/Time.tsx";
import { NextAttempt } from "./NextAttempt.tsx";
import { notePlace, rowLinkId } from "./opened-delivery.ts";
import { DeliveryBadge } from "./WebhookBadge.tsx";
import { attemptsText, codeText, eventWord, nextAttempt, tookText } from "./webhook-facts.ts";

type EventProps = { delivery: DeliverySummary; view: DeliveriesView; isOpen: boolean };

/**
 * Why a delivery has not succeeded. Renders nothing after a success, and no old reason while it is being sent again.
 */
function Reason({ delivery }: { delivery: DeliverySummary }) {
  const { status, status_reason: reason, waits_for: older } = delivery;
  if (status === "pending" && older)
    return <p className="mt-1 max-w-80 text-xs text-muted">Waiting for delivery {older}.</p>;
  if (reason === null || (status !== "failed" && status !== "retrying")) return null;
  return (
    <p
      className={`mt-1 line-clamp-2 max-w-80 text-xs wrap-anywhere ${status === "failed" ? "text-bad" : "text-muted"}`}
    >
      {reason}
    </p>
  );
}

function Next({ delivery }: { delivery: DeliverySummary }) {
  const next = nextAttempt(delivery);
  return next === null ? "–" : <NextAttempt value={next} />;
}

/** The columns that a narrow table omits. */
function Folded({ delivery }: { delivery: DeliverySummary }) {
  const { attempts, duration_ms: ms, created_at: created } = delivery;
  const next = nextAttempt(delivery);
  return (
    <p className="mt-1 flex flex-wrap gap-x-2 text-xs text-muted @2xl:hidden">
      <Time value={created} />
      {attempts > 0 && (
        <>
          <span>{codeText(delivery)}</span>
          <span>{tookText(ms)}</span>
          {attempts > 1 && <span>{attemptsText(attempts)}</span>}
        </>
      )}
      {next !== null && (
        <span>
          next <NextAttempt value={next} />
        </span>
      )}
    </p>
  );
}

function Event({ delivery, view, isOpen }: EventProps) {
  const { id, webhook_id: webhookId, event } = delivery;
  const word = eventWord(event);
  return (
    <>
      <Link
        id={rowLinkId(id)}
        onClick={() => notePlace(id)}
        to={paths.webhook(webhookId, { ...view, delivery: id })}
        aria-label={`${word}, delivery ${id}`}
        aria-current={isOpen ? "true" : undefined}
        className="inline-flex min-h-6 items-center font-medium underline decoration-edge underline-offset-4 hover:decoration-current"
      >
        {word}
      </Link>
      {word !== event && (
        <p className="font-mono text-xs wrap-anywhere text-muted @max-3xl:hidden">{event}</p>
      )}
      <Folded delivery={delivery} />
    </>
  );
}

const makeColumns = (view: DeliveriesView): readonly Column<DeliverySummary>[] => [
  {
    id: "event",
    header: "Event",
    cell: (delivery, isOpen) => <Event delivery={delivery} view={view} isOpen={isOpen} />,
  },
  {
    id: "status",
    header: "Status",
    cell: (delivery) => (
      // Wide enough for any state, so that a change does not move the columns.
      <div className="min-w-24">
        <DeliveryBadge delivery={delivery} />
        <Reason delivery={delivery} />
      </div>
    ),
  },
  {
    id: "code",
    header: "Code",
    help: "HTTP status code of the last response.",
    from: "sm",
    align: "end",
    cell: codeText,
  },
  {
    id: "duration",
    header: "Duration",
    from: "sm",
    align: "end",
    cell: ({ duration_ms: ms }) => tookText(ms),
  },
  {
    id: "attempts",
    header: "Attempts",
    from: "sm",
    align: "end",
    cell: ({ attempts }) => attempts,
  },
  {
    id: "next",
    header: (
      <>
        Next<span className="@max-3xl:sr-only"> attempt</span>
      </>
    ),
    from: "sm",
    cell: (delivery) => <Next delivery={delivery} />,
  },
  {
    id: "created",
    header: "Created",
    from: "sm",
    cell: ({ created_at: created }) => <Time value={created} />,
  },
];

type DeliveryTableProps = {
  deliveries: readonly DeliverySummary[];
  /** Kept in the links of the rows. */
  view: DeliveriesView;
  openId: number | null;
};

export function DeliveryTable({ deliveries, view, openId }: DeliveryTableProps) {
  const columns = useMemo(() => makeColumns(view), [view]);
  return (
    <Table
      label="Deliveries"
      columns={columns}
      rows={deliveries}
      keyOf={({ id }) => id}
      openKey={openId}
    />
  );
}

import { Fragment } from "react";
import { countOf } from "../../contract/count-text.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { workerLabel } from "../../contract/workers/worker-name.ts";
import { Link } from "../app/Link.tsx";
import { selectColumn } from "../app/selection/SelectColumn.tsx";
import { paths } from "../paths.ts";
import { IdText } from "../ui/text/IdText.tsx";
import { actionsColumn, type Column, Table } from "../ui/table/Table.tsx";
import { Time } from "../ui/time/Time.tsx";
import { toneText } from "../ui/feedback/tone.ts";
import { partlyUpText, processesText, restartCount, upCount, upSince } from "./worker-facts.ts";
import { WorkerActions } from "./WorkerActions.tsx";
import { WorkerBadge } from "./WorkerBadge.tsx";
import { markOf, sentenceOf } from "./worker-mark.ts";

function Uptime({ worker }: { worker: Worker }) {
  const since = upSince(worker);
  return since === null ? "–" : <Time value={since} format="duration" />;
}

/** Names of queues, wrapped after commas, and within a name only where it is longer than a line. */
const QueueNames = ({ queue }: { queue: string }) =>
  queue.split(",").map((name, index) => (
    // oxlint-disable-next-line react/no-array-index-key -- a name may come twice, and has no state
    <Fragment key={index}>
      {index > 0 && (
        <>
          ,<wbr />
        </>
      )}
      {name}
    </Fragment>
  ));

function Name({ worker }: { worker: Worker }) {
  const { id, queue, connection } = worker;
  return (
    <>
      <Link
        to={paths.worker(id)}
        aria-label={workerLabel(worker)}
        data-tip={queue.length > 32 ? queue : undefined}
        className="block min-h-6 font-medium wrap-anywhere underline decoration-edge underline-offset-4 hover:decoration-current @2xl:truncate"
      >
        <QueueNames queue={queue} /> on {connection}
      </Link>
      <span className="text-xs text-muted">
        #<IdText id={id} />
      </span>
      <div className="mt-1 @2xl:hidden">
        <Status worker={worker} />
      </div>
    </>
  );
}

/** The columns that a narrow table omits. */
function Folded({ worker }: { worker: Worker }) {
  const restarts = restartCount(worker);
  return (
    <p className="mt-1 flex flex-wrap gap-x-2 text-xs text-muted @3xl:hidden">
      {partlyUpText(worker) === null && (
        <span className="@2xl:hidden">
          {upCount(worker) === null
            ? `Processes: ${processesText(worker)}`
            : `${processesText(worker)} up`}
        </span>
      )}
      {upSince(worker) !== null && <Uptime worker={worker} />}
      {restarts !== null && restarts > 0 && <span>{countOf(restarts, "restart")}</span>}
    </p>
  );
}

function Status({ worker }: { worker: Worker }) {
  const mark = markOf(worker);
  const sentence = sentenceOf(mark);
  return (
    // Wide enough for any state, so that a change does not move the columns.
    <div className="@2xl:min-w-36 @5xl:min-w-56">
      <WorkerBadge worker={worker} />
      {sentence !== null && (
        <p
          className={`mt-1 line-clamp-2 max-w-44 text-xs @3xl:max-w-72 wrap-anywhere ${toneText[mark.tone]}`}
        >
          {sentence}
        </p>
      )}
      <Folded worker={worker} />
    </div>
  );
}

const columns: readonly Column<Worker>[] = [
  selectColumn(workerLabel),
  {
    id: "worker",
    header: "Worker",
    isRest: true,
    cell: (worker) => <Name worker={worker} />,
  },
  { id: "status", header: "Status", from: "sm", cell: (worker) => <Status worker={worker} /> },
  {
    id: "processes",
    header: "Processes",
    from: "sm",
    align: "end",
    cell: processesText,
  },
  {
    id: "uptime",
    header: "Uptime",
    from: "md",
    align: "end",
    cell: (worker) => (
      <span className="inline-block min-w-16">
        <Uptime worker={worker} />
      </span>
    ),
  },
  {
    id: "restarts",
    header: "Restarts",
    help: "Automatic restarts of all processes.",
    from: "md",
    align: "end",
    cell: (worker) => restartCount(worker) ?? "–",
  },
  actionsColumn((worker) => (
    <div className="flex justify-end gap-0.5 @max-md:grid @max-md:grid-cols-[auto_auto]">
      <WorkerActions worker={worker} look="icons" />
    </div>
  )),
];

export const WorkerTable = ({ workers }: { workers: readonly Worker[] }) => (
  <Table label="Workers" columns={columns} rows={workers} keyOf={({ id }) => id} />
);

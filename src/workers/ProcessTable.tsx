import { type ReactNode, useMemo } from "react";
import { countOf } from "../../contract/count-text.ts";
import type { Worker, WorkerProcess } from "../../contract/workers/worker.ts";
import { Panel } from "../ui/page/Panel.tsx";
import { type Column, Table } from "../ui/table/Table.tsx";
import { Time } from "../ui/time/Time.tsx";
import { isOldRelease } from "./worker-facts.ts";
import { ProcessBadge } from "./WorkerBadge.tsx";

/** A process that does not exist yet has only a number. It reserves a row, so that nothing moves when it starts. */
type Process = WorkerProcess | { number: number; state?: never };

type StateProps = { process: WorkerProcess; deployment: number | null };

function State({ process, deployment }: StateProps) {
  const { state, exit_code: exitCode, restarts } = process;
  const isOld = isOldRelease(process, deployment);
  return (
    <>
      <ProcessBadge state={state} isOld={isOld} />
      {isOld && <p className="mt-1 text-xs text-warn">older release</p>}
      <p className="mt-1 text-xs text-muted @2xl:hidden">
        {countOf(restarts, "restart")}
        {exitCode !== null && `, exit code ${exitCode}`}
      </p>
    </>
  );
}

/** Returns a cell that is empty for a process that does not exist yet. */
const whenThere =
  (cell: (process: WorkerProcess) => ReactNode): Column<Process>["cell"] =>
  (process) =>
    process.state === undefined ? "–" : cell(process);

const makeColumns = (deployment: number | null): readonly Column<Process>[] => [
  {
    id: "number",
    header: <span className="@max-2xl:sr-only">Process</span>,
    cell: ({ number }) => number,
  },
  {
    id: "state",
    header: "State",
    cell: whenThere((process) => <State process={process} deployment={deployment} />),
  },
  { id: "pid", header: "PID", cell: whenThere(({ pid }) => pid ?? "–") },
  { id: "since", header: "Since", cell: whenThere(({ since }) => <Time value={since} />) },
  {
    id: "restarts",
    header: "Restarts",
    from: "sm",
    align: "end",
    cell: whenThere(({ restarts }) => restarts),
  },
  {
    id: "exit_code",
    header: "Last exit code",
    from: "sm",
    align: "end",
    cell: whenThere(({ exit_code: code }) => code ?? "–"),
  },
];

type ProcessTableProps = {
  processes: NonNullable<Worker["process_list"]>;
  /** Configured number of processes. */
  asked: number;
  /** The newest deployment of the site; null = unknown. */
  deployment: number | null;
};

export function ProcessTable({ processes, asked, deployment }: ProcessTableProps) {
  const columns = useMemo(() => makeColumns(deployment), [deployment]);
  const missing = Array.from({ length: Math.max(0, asked - processes.length) }, (_, index) => ({
    number: processes.length + index + 1,
  }));
  return (
    <Panel title="Processes">
      <Table
        label="Processes"
        columns={columns}
        rows={[...processes, ...missing]}
        keyOf={({ number }) => number}
      />
    </Panel>
  );
}

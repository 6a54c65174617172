import type { Worker, WorkerProcess } from "../../contract/workers/worker.ts";
import { Panel } from "../ui/Panel.tsx";
import { Cell, HeadCell, rowClass, Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { isOldRelease } from "./worker-facts.ts";
import { ProcessBadge } from "./WorkerBadge.tsx";

type ProcessRowProps = { process: WorkerProcess; deployment: number | null };

function ProcessRow({ process, deployment }: ProcessRowProps) {
  const { number, pid, state, since, exit_code: exitCode, restarts } = process;
  return (
    <tr className={rowClass}>
      <Cell>{number}</Cell>
      <Cell>
        <ProcessBadge state={state} />
        {isOldRelease(process, deployment) && (
          <p className="mt-1 text-xs text-warn">older release</p>
        )}
        <p className="mt-1 text-xs text-muted @2xl:hidden">
          {restarts} {restarts === 1 ? "restart" : "restarts"}
          {exitCode !== null && `, exit code ${exitCode}`}
        </p>
      </Cell>
      <Cell>{pid ?? "–"}</Cell>
      <Cell>
        <Time value={since} />
      </Cell>
      <Cell align="end" from="sm">
        {restarts}
      </Cell>
      <Cell align="end" from="sm">
        {exitCode ?? "–"}
      </Cell>
    </tr>
  );
}

/** A process that is not there yet holds its row, so that nothing moves when it comes. */
function EmptyRow({ number }: { number: number }) {
  return (
    <tr className={rowClass}>
      <Cell>{number}</Cell>
      <Cell>–</Cell>
      <Cell>–</Cell>
      <Cell>–</Cell>
      <Cell align="end" from="sm">
        –
      </Cell>
      <Cell align="end" from="sm">
        –
      </Cell>
    </tr>
  );
}

type ProcessTableProps = {
  processes: NonNullable<Worker["process_list"]>;
  /** How many there should be. */
  asked: number;
  /** The newest one of the site; null = not known. */
  deployment: number | null;
};

export function ProcessTable({ processes, asked, deployment }: ProcessTableProps) {
  const missing = Array.from(
    { length: Math.max(0, asked - processes.length) },
    (_, index) => processes.length + index + 1,
  );
  return (
    <Panel title="Processes">
      <Table label="Processes">
        <thead>
          <tr>
            <HeadCell>
              <span className="@max-2xl:sr-only">Process</span>
            </HeadCell>
            <HeadCell>State</HeadCell>
            <HeadCell>PID</HeadCell>
            <HeadCell>Since</HeadCell>
            <HeadCell align="end" from="sm">
              Restarts
            </HeadCell>
            <HeadCell align="end" from="sm">
              Last exit code
            </HeadCell>
          </tr>
        </thead>
        <tbody>
          {processes.map((process) => (
            <ProcessRow key={process.number} process={process} deployment={deployment} />
          ))}
          {missing.map((number) => (
            <EmptyRow key={number} number={number} />
          ))}
        </tbody>
      </Table>
    </Panel>
  );
}

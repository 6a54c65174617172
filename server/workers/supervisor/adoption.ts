// Determines, at a start of the service, which of the processes with a slot's mark is the slot's process.
import type { Leader, MarkedProcess } from "./process-table.ts";
import type { RunRecord } from "./run-file.ts";
import type { Found } from "./slot-ports.ts";

/** State of the kernel, which tests replace. */
type Facts = {
  boot: string;
  isAlive(leader: Leader): boolean;
  hasGroup(leader: Leader): boolean;
};

type Finding = {
  found: Found;
  /** Other leaders where there is no record: they belong to other starts, and a slot may have only one process. */
  extra: MarkedProcess[];
};

const byAge = (a: MarkedProcess, b: MarkedProcess) =>
  Number(a.startTime) - Number(b.startTime) || a.pid - b.pid;

const leaderFrom = ({ pid, startTime }: MarkedProcess): Leader => ({ pid, startTime });

/** Whether a record was written before the process existed, or while its start time could not be read. */
const isStart = (record: RunRecord, boot: string) =>
  record.startTime === null &&
  record.boot === boot &&
  (record.state === "STARTING" || record.state === "RUNNING" || record.state === "STOPPING");

/** Whether the process of a record may exist although the record has only the nonce of its start. */
export const awaitsProcess = (record: RunRecord | null, boot: string): record is RunRecord =>
  record !== null && isStart(record, boot);

/**
 * Finds the slot's process. A record is written before every start, so the process has the nonce of the record.
 * @param marks the living processes with the mark of this slot, descendants included
 */
export function findProcess(
  record: RunRecord | null,
  marks: readonly MarkedProcess[],
  facts: Facts,
): Finding {
  // A process without a nonce is a descendant that was started with another environment.
  const leaders = marks.filter((mark) => mark.group === mark.pid && mark.nonce !== "").sort(byAge);
  if (record === null) {
    const [oldest, ...others] = leaders;
    if (oldest === undefined) return { found: { kind: "nothing" }, extra: [] };
    return {
      found: { kind: "process", leader: leaderFrom(oldest), nonce: oldest.nonce },
      // Leaders with the same nonce are children that created their own session.
      extra: others.filter(({ nonce }) => nonce !== oldest.nonce),
    };
  }
  return { found: findRecorded(record, marks, leaders, facts), extra: [] };
}

function findRecorded(
  record: RunRecord,
  marks: readonly MarkedProcess[],
  leaders: readonly MarkedProcess[],
  facts: Facts,
): Found {
  const { nonce } = record;
  const ofStart = (mark: MarkedProcess) => mark.nonce === nonce;
  if (isStart(record, facts.boot)) {
    // The service was killed after the start, before it stored the pid. The oldest is the parent of the others.
    const isIt = (mark: MarkedProcess) => record.pid === null || mark.pid === record.pid;
    const oldest = leaders.find((mark) => ofStart(mark) && isIt(mark));
    return oldest === undefined
      ? { kind: "nothing" }
      : { kind: "process", leader: leaderFrom(oldest), nonce };
  }
  if (record.pid === null || record.boot !== facts.boot) return { kind: "nothing" };
  const leader = { pid: record.pid, startTime: record.startTime };
  if (facts.isAlive(leader)) return { kind: "process", leader, nonce };
  // Descendants that outlive the leader are not the slot's process, but a stop has to end them.
  const leftBehind = marks.some(
    (mark) => ofStart(mark) && mark.group === leader.pid && mark.pid !== leader.pid,
  );
  return leftBehind && facts.hasGroup(leader)
    ? { kind: "group", leader, nonce }
    : { kind: "nothing" };
}

// When the service comes back: which of the processes that bear a slot's mark is the slot's process.
import type { Leader, MarkedProcess } from "./process-table.ts";
import type { RunRecord } from "./run-file.ts";
import type { Found } from "./slot-ports.ts";

/** What the kernel says, passed in. */
type Facts = {
  boot: string;
  isAlive(leader: Leader): boolean;
  hasGroup(leader: Leader): boolean;
};

type Finding = {
  found: Found;
  /** Leaders that no record tells apart from the slot's process, and of which there may be one only. */
  extra: MarkedProcess[];
};

const byAge = (a: MarkedProcess, b: MarkedProcess) =>
  Number(a.startTime) - Number(b.startTime) || a.pid - b.pid;

const leaderFrom = ({ pid, startTime }: MarkedProcess): Leader => ({ pid, startTime });

/** Written before the process was there, or while its start time could not be read. */
const isStart = (record: RunRecord, boot: string) =>
  record.startTime === null &&
  record.boot === boot &&
  (record.state === "STARTING" || record.state === "RUNNING" || record.state === "STOPPING");

/** Whether a process may exist of which the record knows only that it was to be started. */
export const awaitsProcess = (record: RunRecord | null, boot: string): record is RunRecord =>
  record !== null && isStart(record, boot);

/**
 * A record is written before every start, so the slot's process bears the record's nonce and no other.
 * @param marks the living processes that bear the mark of this slot, descendants included
 */
export function findProcess(
  record: RunRecord | null,
  marks: readonly MarkedProcess[],
  facts: Facts,
): Finding {
  // Without a nonce it is a descendant that was given an environment of its own.
  const leaders = marks.filter((mark) => mark.group === mark.pid && mark.nonce !== "").sort(byAge);
  if (record === null) {
    const [oldest, ...others] = leaders;
    if (oldest === undefined) return { found: { kind: "nothing" }, extra: [] };
    return {
      found: { kind: "process", leader: leaderFrom(oldest), nonce: oldest.nonce },
      // Of the same start they are children that opened a session of their own.
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
    // Killed between the start and the note of its pid. A parent is older than its children.
    const isIt = (mark: MarkedProcess) => record.pid === null || mark.pid === record.pid;
    const oldest = leaders.find((mark) => ofStart(mark) && isIt(mark));
    return oldest === undefined
      ? { kind: "nothing" }
      : { kind: "process", leader: leaderFrom(oldest), nonce };
  }
  if (record.pid === null || record.boot !== facts.boot) return { kind: "nothing" };
  const leader = { pid: record.pid, startTime: record.startTime };
  if (facts.isAlive(leader)) return { kind: "process", leader, nonce };
  // What lives on after its leader is never taken for it, but a stop has to reach it.
  const leftBehind = marks.some(
    (mark) => ofStart(mark) && mark.group === leader.pid && mark.pid !== leader.pid,
  );
  return leftBehind && facts.hasGroup(leader)
    ? { kind: "group", leader, nonce }
    : { kind: "nothing" };
}

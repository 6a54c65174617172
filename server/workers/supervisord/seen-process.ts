// One process as supervisord has shown it, look by look: its state, its runs, and what must have happened in between.
import type { ProcessState } from "../../../contract/workers/worker.ts";
import type { ProcessStatus, Program } from "../process-manager.ts";
import { createRunHistory } from "../supervisor/run-history.ts";
import { type ProcessExit, unknownExit } from "./exits.ts";
import type { Observed } from "./observed.ts";
import type { SlotRecord } from "./records.ts";
import {
  exitReason,
  failedStartReason,
  fatalReason,
  removedByOthers,
  stoppedByOthers,
} from "./slot-reasons.ts";

/** What it is to be, which says what was asked for of what is seen. */
type Intent = {
  /** It is to be up, and nothing on its way says otherwise. */
  isUp(): boolean;
  isEnding(): boolean;
  /** A start was asked for, by itself or after an end. */
  isStart(): boolean;
  /** supervisord would start it as it is to be. */
  isAsWanted(): boolean;
  /** What was asked for before a run can have begun that is seen only now. */
  startedFor(): Program;
  /** The start that was asked for is seen. */
  noteStart(): void;
  /** So is what was to come back after its end. @param isOrdered it did not come back by itself */
  noteReturn(isOrdered: boolean): void;
};

export type SeenProcessPorts = {
  nowMs(): number;
  /** What it would be started with now. */
  program(): Program;
  /** When the newest deployment was heard of. */
  deployedAtMs(): number;
  /** After a process that ended by itself, or never came up, was started once more. */
  restarting(): void;
  /** After every change of state. */
  changed(): void;
};

export function createSeenProcess(ports: SeenProcessPorts, intent: Intent) {
  const history = createRunHistory(ports.nowMs);
  let state: ProcessState = "STOPPED";
  let sinceMs = ports.nowMs();
  let pid: number | null = null;
  /** Of the newest run that was seen, see `Observed`. */
  let start = 0;
  let startedAtMs = 0;
  let exit = unknownExit;
  let restarts = 0;
  let reason: string | null = null;
  /** Why the last stop or restart had to kill; null where everything ended by itself. */
  let killed: string | null = null;

  const enter = (next: ProcessState, why: string | null) => {
    history.enter(state, next);
    state = next;
    sinceMs = ports.nowMs();
    reason = why;
    ports.changed();
  };

  const isByOthers = () => reason === stoppedByOthers || reason === removedByOthers;

  const startedAs = (): Program => history.startedAs() ?? ports.program();
  const runOf = ({ spawnError }: Observed) => ({ spawnError, exit, program: startedAs() });

  function reasonOf(seen: Observed): string | null {
    switch (seen.state) {
      case "EXITED":
        return exitReason(runOf(seen));
      case "BACKOFF":
        return failedStartReason(runOf(seen));
      case "FATAL":
        return fatalReason(runOf(seen));
      case "STOPPED":
        return intent.isUp() ? stoppedByOthers : killed;
      case "STARTING":
        return reason;
      case "STOPPING":
      case "RUNNING":
        return null;
    }
  }

  /** What a run carries that is seen for the first time. */
  function noteRun(seen: Observed, isOrdered: boolean) {
    if (isOrdered) {
      restarts = 0;
      history.starts(intent.startedFor());
      return;
    }
    const program = ports.program();
    const { deployment, settings, order } = history.toRecord();
    // supervisord counts whole seconds. One that is taken for too early is replaced once more; none is missed.
    const isNewest = seen.startedAtMs - 2000 >= ports.deployedAtMs();
    history.starts({
      ...startedAs(),
      settings,
      order,
      deployment: isNewest ? program.deployment : deployment,
    });
  }

  /** Whether the next run began before the one before can have had its start seconds; supervisord gives whole seconds. */
  const hadNoTimeToRun = (seen: Observed) =>
    seen.start > start && seen.start - start < startedAs().startsecs;

  /** The end of the run before this look: states that nobody saw follow from supervisord's rules. */
  function noteEnd(seen: Observed) {
    const livedMs = Math.max(0, ports.nowMs() - startedAtMs);
    if (state === "STOPPING" || seen.state === "STOPPED" || seen.state === "STOPPING") {
      if (state !== "STOPPING") enter("STOPPING", null);
      if (seen.state !== "STOPPED" && seen.state !== "STOPPING") enter("STOPPED", killed);
    } else if (state === "STARTING" && hadNoTimeToRun(seen)) {
      history.ended(null, startedAs(), failedStartReason(runOf(seen)));
      if (seen.state !== "BACKOFF") enter("BACKOFF", failedStartReason(runOf(seen)));
    } else if (seen.state === "BACKOFF" || seen.state === "FATAL") {
      history.ended(null, startedAs(), failedStartReason(runOf(seen)));
      if (seen.state === "FATAL") enter("BACKOFF", failedStartReason(runOf(seen)));
    } else {
      // It was up, as far as anybody can tell.
      if (state === "STARTING") enter("RUNNING", null);
      const why = exitReason({ spawnError: "", exit, program: startedAs() });
      if (!intent.isEnding())
        history.ended({ ...exit, livedMs, hasWorked: () => true }, startedAs(), why);
      if (seen.state !== "EXITED") enter("EXITED", why);
    }
  }

  function noteStart(seen: Observed) {
    // What somebody else started again, or stopped, was asked for as well.
    const isOrdered = intent.isStart() || state === "STOPPED" || state === "FATAL";
    noteRun(seen, isOrdered);
    if (!isOrdered) {
      restarts += 1;
      ports.restarting();
    }
    intent.noteStart();
    if (isByOthers()) reason = null;
    if (seen.state !== "STARTING") enter("STARTING", reason);
    intent.noteReturn(isOrdered);
  }

  function follow(seen: Observed) {
    const isOtherRun = seen.start !== start || (seen.pid !== null && seen.pid !== pid);
    if (pid !== null && (seen.pid === null || isOtherRun)) noteEnd(seen);
    start = seen.start;
    startedAtMs = seen.startedAtMs;
    pid = seen.pid;
    if (isOtherRun && seen.start !== 0 && seen.state !== "STOPPED") {
      noteStart(seen);
      // One that failed before anybody looked.
      if (seen.state === "BACKOFF" || seen.state === "FATAL")
        history.ended(null, startedAs(), failedStartReason(runOf(seen)));
      if (seen.state === "FATAL") enter("BACKOFF", failedStartReason(runOf(seen)));
    }
    if (seen.state !== state) enter(seen.state, reasonOf(seen));
  }

  /** The first look after a start of the service. */
  function adopt(seen: Observed) {
    if (seen.state !== "STOPPED") intent.noteStart();
    const isRecorded = seen.start === start && seen.pid === pid;
    if (!isRecorded && seen.state !== "STOPPED") {
      if (start === 0 && intent.isAsWanted()) {
        // The records are lost, and it is what it should be.
        const { settings, order } = ports.program();
        history.starts({ ...ports.program(), settings, order, deployment: null });
      } else noteRun(seen, false);
      restarts += start === 0 ? 0 : 1;
    }
    ({ pid, start, startedAtMs } = seen);
    if (seen.state !== state) {
      enter(seen.state, reasonOf(seen));
      sinceMs = startedAtMs === 0 ? sinceMs : startedAtMs;
    }
  }

  return {
    history,
    startedAs,
    state: () => state,
    pid: () => pid,
    hasProcess: () => pid !== null,
    /** By an order, not by a look. @param why a sentence; left out: the reason stays */
    enter: (next: ProcessState, why = reason) => enter(next, why),
    noteKill(why: string) {
      killed = why;
      reason = why;
    },
    forgetKill() {
      killed = null;
    },
    /** Whether this look shows that a run has ended since the last one. */
    hasEnded: (seen: Observed) =>
      seen.state !== "STOPPED" && (seen.start !== start || (pid !== null && seen.pid === null)),

    /** Takes in a look. @param isFirst after a start of the service */
    take(seen: Observed, seenExit: ProcessExit | null, isFirst: boolean) {
      if (seenExit !== null) exit = seenExit;
      if (isFirst) adopt(seen);
      else follow(seen);
    },

    /** supervisord has no such group. @param wasThere at the look before; null = there was none */
    takeAbsence(wasThere: boolean | null) {
      pid = null;
      if (intent.isUp() ? wasThere === true : state !== "STOPPED")
        enter("STOPPED", intent.isUp() ? removedByOthers : killed);
    },

    /** Before anything was seen: what an earlier life of the service wrote down. */
    restore(record: SlotRecord) {
      ({ pid, start, restarts, state, sinceMs, reason } = record);
      exit = { code: record.exitCode, signal: null };
      history.restore(record);
    },

    record: (): SlotRecord => ({
      pid,
      start,
      sinceMs,
      state,
      reason,
      exitCode: exit.code,
      restarts,
      ...history.toRecord(),
    }),

    status: (): Omit<ProcessStatus, "number"> => ({
      pid,
      // One that may end its job first is still up to supervisord, and no longer what was asked for.
      state: intent.isEnding() && state === "RUNNING" ? "STOPPING" : state,
      since: new Date(sinceMs),
      exitCode: exit.code,
      restarts,
      reason,
      // Not where its start was asked for since.
      isStoppedElsewhere: state === "STOPPED" && intent.isUp() && isByOthers(),
      ...history.status(),
    }),
  };
}

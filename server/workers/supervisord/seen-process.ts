// Follows one process by polls of supervisord: its state, its runs, and the states that it must have had between two polls.
import type { ProcessState } from "../../../contract/workers/worker.ts";
import type { ProcessStatus, Program } from "../processes/process-manager.ts";
import { createRunHistory } from "../supervisor/run-history.ts";
import { type ProcessExit, unknownExit } from "./exits.ts";
import type { Observed } from "./observed.ts";
import type { SlotRecord } from "./records.ts";
import {
  exitReason,
  failedStartReason,
  fatalReason,
  isUnstartable,
  removedByOthers,
  stoppedByOthers,
} from "./slot-reasons.ts";

/** The wanted state, by which an ordered change is distinguished from others. */
type Intent = {
  /** Whether the process should be up, and no order is under way. */
  isUp(): boolean;
  isEnding(): boolean;
  /** Whether a start was ordered, alone or after a stop. */
  isStart(): boolean;
  /** Whether supervisord has the current settings of the process. */
  isAsWanted(): boolean;
  /** Returns the program that was wanted when a run that is seen for the first time began. */
  startedFor(): Program;
  /** Called when a start is seen. */
  noteStart(): void;
  /** Called when a start is seen, after `noteStart`. @param isOrdered whether the start was ordered, not made by supervisord itself */
  noteReturn(isOrdered: boolean): void;
};

export type SeenProcessPorts = {
  nowMs(): number;
  /** Returns the program with which the process would be started now. */
  program(): Program;
  /** Returns when the newest deployment became known. */
  deployedAtMs(): number;
  /** Called after a process that ended by itself, or did not come up, was started again. */
  restarting(): void;
  /** Called after every change of state. */
  changed(): void;
};

export function createSeenProcess(ports: SeenProcessPorts, intent: Intent) {
  const history = createRunHistory(ports.nowMs);
  let state: ProcessState = "STOPPED";
  let sinceMs = ports.nowMs();
  let pid: number | null = null;
  /** Start time of the newest run that was seen, see `Observed`. */
  let start = 0;
  let startedAtMs = 0;
  let exit = unknownExit;
  let restarts = 0;
  let reason: string | null = null;
  /** Why the last stop or restart needed a kill; null = it did not. */
  let killed: string | null = null;

  const enter = (next: ProcessState, why: string | null) => {
    // The process may have been up for long, because supervisord did not respond meanwhile.
    if (next === "RUNNING") history.up(startedAtMs + startedAs().startsecs * 1000);
    history.enter(state, next);
    state = next;
    sinceMs = ports.nowMs();
    reason = why;
    ports.changed();
  };

  /** The code of a command that was not executed is supervisord's own. */
  const exitCode = () => (exit.unstarted === undefined ? exit.code : null);

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

  /** Records the settings, order and deployment of a run that is seen for the first time. */
  function noteRun(seen: Observed, isOrdered: boolean) {
    if (isOrdered) {
      restarts = 0;
      history.starts(intent.startedFor());
      return;
    }
    const program = ports.program();
    const { deployment, settings, order } = history.toRecord();
    // supervisord gives whole seconds, hence the margin: a process may be replaced once too often, but none is missed.
    const isNewest = seen.startedAtMs - 2000 >= ports.deployedAtMs();
    history.starts({
      ...startedAs(),
      settings,
      order,
      deployment: isNewest ? program.deployment : deployment,
    });
  }

  /** Whether the next run began before the previous one can have outlived its start seconds; supervisord gives whole seconds. */
  const hadNoTimeToRun = (seen: Observed) =>
    seen.start > start && seen.start - start < startedAs().startsecs;

  /** Records the end of a run, and infers the states between two polls from supervisord's rules. */
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
      // The process is assumed to have been up.
      if (state === "STARTING") enter("RUNNING", null);
      const why = exitReason({ spawnError: "", exit, program: startedAs() });
      if (!intent.isEnding())
        history.ended({ ...exit, livedMs, hasWorked: () => true }, startedAs(), why);
      if (seen.state !== "EXITED") enter("EXITED", why);
    }
  }

  function noteStart(seen: Observed) {
    // A start from STOPPED or FATAL was ordered on the server, because supervisord does not start those by itself.
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
      // The start has failed before this poll.
      if (seen.state === "BACKOFF" || seen.state === "FATAL")
        history.ended(null, startedAs(), failedStartReason(runOf(seen)));
      if (seen.state === "FATAL") enter("BACKOFF", failedStartReason(runOf(seen)));
    }
    if (seen.state !== state) enter(seen.state, reasonOf(seen));
  }

  /** Handles the first poll after a start of the service. */
  function adopt(seen: Observed) {
    if (seen.state !== "STOPPED") intent.noteStart();
    const isRecorded = seen.start === start && seen.pid === pid;
    if (!isRecorded && seen.state !== "STOPPED") {
      if (start === 0 && intent.isAsWanted()) {
        // There is no record, and the process has the current settings.
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
    /** Changes the state by an order, not by a poll. @param why a sentence; left out = the reason stays */
    enter: (next: ProcessState, why = reason) => enter(next, why),
    /** Records that a start was not possible, like a failed start with the current settings. @param why a sentence */
    refuse(why: string) {
      exit = unknownExit;
      history.starts(ports.program());
      enter("FATAL", why);
    },
    noteKill(why: string) {
      killed = why;
      reason = why;
    },
    forgetKill() {
      killed = null;
    },
    /** Whether a run has ended since the last poll. */
    hasEnded: (seen: Observed) =>
      seen.state !== "STOPPED" && (seen.start !== start || (pid !== null && seen.pid === null)),

    /** Stores the result of a poll. @param isFirst whether it is the first one after a start of the service */
    take(seen: Observed, seenExit: ProcessExit | null, isFirst: boolean) {
      // Any known exit is that of an earlier run in that case.
      if (isUnstartable(seen.spawnError)) exit = unknownExit;
      else if (seenExit !== null) exit = seenExit;
      if (isFirst) adopt(seen);
      else follow(seen);
    },

    /** Stores that supervisord has no such group. @param wasThere whether it had one at the previous poll; null = this is the first poll */
    takeAbsence(wasThere: boolean | null) {
      pid = null;
      if (intent.isUp() ? wasThere === true : state !== "STOPPED")
        enter("STOPPED", intent.isUp() ? removedByOthers : killed);
    },

    /** Continues from the record of an earlier run of the service. To be called before the first poll. */
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
      exitCode: exitCode(),
      restarts,
      ...history.toRecord(),
    }),

    status: (): Omit<ProcessStatus, "number"> => ({
      pid,
      // A process that is finishing its job is still RUNNING to supervisord.
      state: intent.isEnding() && state === "RUNNING" ? "STOPPING" : state,
      since: new Date(sinceMs),
      exitCode: exitCode(),
      restarts,
      reason,
      // False once its start was ordered again: `isUp` is false then.
      isStoppedElsewhere: state === "STOPPED" && intent.isUp() && isByOthers(),
      ...history.status(),
    }),
  };
}

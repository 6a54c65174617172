// One process of a worker as supervisord keeps it: what it is to be, what supervisord says it is, and the next step from
// the one to the other. It does nothing by itself, so that a step that was cut off is found again by looking.
import type { ProcessState } from "../../../contract/workers/worker.ts";
import type { ProcessStatus, Program } from "../process-manager.ts";
import {
  exitCause,
  giveUpReason,
  killReason,
  sentence,
  startCause,
} from "../supervisor/reasons.ts";
import { createRunHistory } from "../supervisor/run-history.ts";
import type { Observed, ProcessExit } from "./observed.ts";
import type { SlotRecord } from "./records.ts";

export type Step =
  /** Ends the process and all that it started. */
  | { kind: "stop" }
  /** Lets the process end its job; supervisord starts it again. */
  | { kind: "signal"; signal: string }
  /** It had its stop seconds. */
  | { kind: "kill" }
  /** It has stopped, and is to be gone or to come back with other settings. */
  | { kind: "removeGroup" }
  | { kind: "addGroup" }
  | { kind: "start" };

type SlotPorts = {
  nowMs(): number;
  /** What it would be started with now. */
  program(): Program;
  /** Its section of the program file with that; or why there is none. */
  target(): string | { problem: string };
  /** When the newest deployment was heard of. */
  deployedAtMs(): number;
  /** After a process that ended by itself, or never came up, was started once more. */
  restarting(): void;
  /** A stop or restart ended in a KILL. */
  killing(reason: string): void;
  /** After every change of state. It may call back into the slot. */
  changed(): void;
};

/** A process on its way down. */
type Ending = {
  /** Its job may end first: the process alone is signaled. */
  isGentle: boolean;
  /** supervisord is not to start it again by itself meanwhile. */
  isFinal: boolean;
  /** Whom the signal was sent to. */
  signaled: number | null;
  sentAtMs: number | null;
  isKillTold: boolean;
  /** supervisord may know of it: also where it did not answer, it may do what it was asked to once it goes on. */
  isTold: boolean;
};

export type Slot = ReturnType<typeof createSlot>;

/** Neither stopped nor given up, by supervisord's rules. */
const kept = new Set<ProcessState>(["STARTING", "RUNNING", "BACKOFF", "EXITED"]);

const stoppedByOthers =
  "Stopped on the server, not by Quarterdeck. Start the worker to bring it up again.";
const removedByOthers =
  "Removed from supervisord on the server, not by Quarterdeck. Start the worker to add it again.";

export function createSlot(number: number, ports: SlotPorts) {
  const history = createRunHistory(ports.nowMs);
  let state: ProcessState = "STOPPED";
  let sinceMs = ports.nowMs();
  let pid: number | null = null;
  /** Of the newest run that was seen, see `Observed`. */
  let start = 0;
  let startedAtMs = 0;
  let exit: ProcessExit = { code: null, signal: null };
  let restarts = 0;
  let reason: string | null = null;
  let killed: string | null = null;
  let wanted = false;
  /** A start was asked for that supervisord does not show yet. */
  let isStartDue = false;
  /** supervisord has its group; null = nobody has looked yet. */
  let isThere: boolean | null = null;
  /** Its section in the file, which is what supervisord has as long as the group is there. */
  let section: string | null = null;
  let ending: Ending | null = null;
  let waiting: (() => void)[] = [];

  const enter = (next: ProcessState, why: string | null) => {
    history.enter(state, next);
    state = next;
    sinceMs = ports.nowMs();
    reason = why;
    ports.changed();
  };

  const startedAs = (): Program => history.startedAs() ?? ports.program();
  const untilEnded = () => new Promise<void>((resolve) => waiting.push(resolve));

  function finishEnding() {
    ending = null;
    const resolve = waiting;
    waiting = [];
    for (const done of resolve) done();
  }

  /** Why the run ended, as a cause; see `reasons.ts`. */
  function causeOf(seen: Observed, within: number | null): string {
    const isUnstartable =
      seen.spawnError !== "" && !/^(?:Exited too quickly|Bad exit code)/.test(seen.spawnError);
    return isUnstartable ? startCause(seen.spawnError) : exitCause(exit.code, exit.signal, within);
  }

  function reasonOf(seen: Observed): string | null {
    const { startsecs, startretries } = startedAs();
    switch (seen.state) {
      case "EXITED":
        return sentence(causeOf(seen, null));
      case "BACKOFF":
        return sentence(causeOf(seen, startsecs));
      case "FATAL":
        return giveUpReason(causeOf(seen, startsecs), startretries + 1, true);
      case "STOPPED":
        return wanted && ending === null && !isStartDue ? stoppedByOthers : killed;
      case "STARTING":
        return reason;
      case "STOPPING":
      case "RUNNING":
        return null;
    }
  }

  /** What a run carries that is seen for the first time. */
  function noteRun(seen: Observed, isOrdered: boolean) {
    const program = ports.program();
    if (isOrdered) {
      restarts = 0;
      history.starts(program);
      return;
    }
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

  /** The end of the run before this look: states that nobody saw follow from supervisord's rules. */
  function noteEnd(seen: Observed) {
    const livedMs = Math.max(0, ports.nowMs() - startedAtMs);
    if (state === "STOPPING" || seen.state === "STOPPED" || seen.state === "STOPPING") {
      if (state !== "STOPPING") enter("STOPPING", null);
      if (seen.state !== "STOPPED" && seen.state !== "STOPPING") enter("STOPPED", killed);
    } else if (seen.state === "BACKOFF" || seen.state === "FATAL") {
      history.ended(null, startedAs());
      if (seen.state === "FATAL") enter("BACKOFF", sentence(causeOf(seen, startedAs().startsecs)));
    } else {
      // A failed start waits for a second at least, which would have been seen.
      if (state === "STARTING") enter("RUNNING", null);
      if (ending === null) history.ended({ ...exit, livedMs, hasWorked: () => true }, startedAs());
      if (seen.state !== "EXITED")
        enter("EXITED", sentence(exitCause(exit.code, exit.signal, null)));
    }
  }

  function noteStart(seen: Observed) {
    // What somebody else started again, or stopped, was asked for as well.
    const isOrdered = isStartDue || ending !== null || state === "STOPPED" || state === "FATAL";
    noteRun(seen, isOrdered);
    if (!isOrdered) {
      restarts += 1;
      ports.restarting();
    }
    isStartDue = false;
    if (seen.state !== "STARTING") enter("STARTING", reason);
    // supervisord has started what was to end its job and come back.
    if (ending !== null && !ending.isFinal && ending.signaled !== null) finishEnding();
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
      if (seen.state === "BACKOFF" || seen.state === "FATAL") history.ended(null, startedAs());
      if (seen.state === "FATAL") enter("BACKOFF", sentence(causeOf(seen, startedAs().startsecs)));
    }
    if (seen.state !== state) enter(seen.state, reasonOf(seen));
  }

  /** The first look after a start of the service. */
  function adopt(seen: Observed) {
    if (seen.state !== "STOPPED") isStartDue = false;
    const isRecorded = seen.start === start && seen.pid === pid;
    if (!isRecorded && seen.state !== "STOPPED") {
      if (start === 0 && section === ports.target()) {
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

  function tellKill() {
    if (ending === null || ending.isKillTold) return;
    ending.isKillTold = true;
    const { stopwaitsecs, stopsignal } = startedAs();
    killed = killReason(true, stopwaitsecs, `SIG${stopsignal}`);
    reason = killed;
    ports.killing(killed);
  }

  const isOverdue = ({ sentAtMs }: Ending) =>
    sentAtMs !== null && ports.nowMs() - sentAtMs >= startedAs().stopwaitsecs * 1000;

  /** Whether what was to end has. */
  function checkEnding() {
    if (ending === null) return;
    if (isThere !== false && (pid !== null || kept.has(state) || state === "STOPPING")) return;
    // supervisord kills by itself and does not say so.
    if (isOverdue(ending)) tellKill();
    if (wanted) isStartDue = true;
    if (wanted || isThere === false) finishEnding();
  }

  function nextOfEnding(): Step | null {
    if (state === "STOPPING" || state === "EXITED") return null;
    if (!kept.has(state)) return wanted ? null : { kind: "removeGroup" };
    if (ending === null || !ending.isGentle || state !== "RUNNING") return { kind: "stop" };
    if (ending.signaled === null) return { kind: "signal", signal: startedAs().stopsignal };
    if (ending.signaled !== pid) return { kind: "stop" };
    return isOverdue(ending) ? { kind: "kill" } : null;
  }

  /** @returns null where there is nothing to do but to look again */
  function nextStep(): Step | null {
    if (isThere === null) return null;
    if (isThere && (ending !== null || !wanted)) return nextOfEnding();
    if (!wanted || !isStartDue) return null;
    if (!isThere) return { kind: "addGroup" };
    if (kept.has(state) || state === "STOPPING") return null;
    return ports.target() === section ? { kind: "start" } : { kind: "removeGroup" };
  }

  /** @returns resolves when what runs is gone, and its successor on its way where there is to be one */
  function end(isGentle: boolean, isFinal: boolean): Promise<void> {
    if (ending === null) {
      killed = null;
      ending = {
        isGentle,
        isFinal,
        signaled: null,
        sentAtMs: null,
        isKillTold: false,
        isTold: false,
      };
    } else {
      // A restart that is under way becomes a stop, within the time that it has.
      ending.isGentle &&= isGentle;
      ending.isFinal ||= isFinal;
    }
    return untilEnded();
  }

  /** An end that supervisord was not told of leaves no trace. */
  function cancelUntold() {
    if (ending?.isTold === false) finishEnding();
  }

  function begin() {
    wanted = true;
    cancelUntold();
    const isOnItsWay = state === "STARTING" || state === "RUNNING" || ending !== null;
    if (isThere === null || !isOnItsWay) isStartDue = true;
  }

  function stop(isGentle: boolean): Promise<void> {
    wanted = false;
    isStartDue = false;
    return isThere === false ? Promise.resolve() : end(isGentle, true);
  }

  function replace(isFinal: boolean): Promise<void> {
    wanted = true;
    if (ending !== null || isThere === null || pid !== null || kept.has(state))
      return end(!startedAs().stopasgroup, isFinal);
    begin();
    return Promise.resolve();
  }

  const isOutdated = () => history.isOutdated(ports.program().settings);

  return {
    number,
    start: begin,
    stop: () => stop(false),
    /** Ends for good once its job is done. */
    retire: () => stop(!startedAs().stopasgroup),
    /** Replaces or starts it, whatever it was started for. */
    renew: () => replace(true),
    restart(): Promise<void> {
      const isDone = pid !== null && ending === null && !history.isBefore(ports.program().order);
      wanted = true;
      return isDone ? Promise.resolve() : replace(false);
    },
    /** Replaces a process that carries an older deployment than it must. */
    deploy: (): Promise<void> =>
      wanted && history.isOlderThan(ports.program().requiredDeployment)
        ? replace(false)
        : Promise.resolve(),
    /** See the process manager. */
    withdraw(isUp: boolean | null) {
      cancelUntold();
      isStartDue = false;
      if (isUp === true) begin();
      else if (isUp === false || state === "STOPPED") void stop(false);
      else wanted = true;
    },
    isOutdated,
    renewOutdated: (): Promise<void> =>
      wanted && isOutdated() ? replace(true) : Promise.resolve(),
    isOlderThan: (given: number) => pid !== null && ending === null && history.isBefore(given),
    hasProcess: () => pid !== null,
    nextStep,
    target: ports.target,
    /** Whether nothing is on its way that changes its section. */
    isSettled: () => ending === null && !isStartDue,
    /** What is in the file for it; null = nothing. */
    section: () => section,
    setSection(text: string | null) {
      section = text;
    },
    isThere: () => isThere !== false,
    /** Whether it is on its way somewhere, so that it is worth it to look often. */
    isBusy: () =>
      ending !== null ||
      isStartDue ||
      (state !== "RUNNING" && state !== "STOPPED" && state !== "FATAL"),
    /** Whether this look shows that a run has ended since the last one. */
    hasEnded: (seen: Observed) =>
      isThere !== null &&
      seen.state !== "STOPPED" &&
      (seen.start !== start || (pid !== null && seen.pid === null)),

    /** Before anything was seen: what an earlier life of the service wrote down. */
    resume(record: SlotRecord | null, up: boolean) {
      wanted = up;
      isStartDue = up;
      if (record === null) return;
      ({ pid, start, restarts, state, sinceMs, reason } = record);
      exit = { code: record.exitCode, signal: null };
      history.restore(record);
    },

    /** Takes in what supervisord says; null = it has no such group. */
    observe(seen: Observed | null, seenExit: ProcessExit | null) {
      const wasThere = isThere;
      isThere = seen !== null;
      if (seenExit !== null) exit = seenExit;
      if (seen === null) {
        pid = null;
        const isByOthers = wanted && ending === null && !isStartDue;
        const isDown = state === "STOPPED" || state === "FATAL";
        if (isByOthers ? wasThere === true : !isDown)
          enter("STOPPED", isByOthers ? removedByOthers : killed);
      } else if (wasThere === null) adopt(seen);
      else follow(seen);
      checkEnding();
    },

    /** A step is about to be given to supervisord. */
    tells() {
      if (ending !== null) ending.isTold = true;
    },

    /** A step was given to supervisord. */
    noteStep(step: Step) {
      const sentAtMs = ports.nowMs();
      switch (step.kind) {
        case "kill":
          tellKill();
          enter("STOPPING", reason);
          return;
        case "stop":
          if (ending !== null) ending.sentAtMs ??= sentAtMs;
          // One that waits for its next start has nothing to end.
          if (state !== "BACKOFF") enter("STOPPING", null);
          return;
        case "signal":
          if (ending !== null) Object.assign(ending, { signaled: pid, sentAtMs });
          return;
        case "removeGroup":
          isThere = false;
          section = null;
          checkEnding();
          return;
        case "addGroup":
          isThere = true;
          return;
        case "start":
      }
    },

    /** A start that is not possible. @param why a sentence */
    refuse(why: string) {
      isStartDue = false;
      enter("FATAL", why);
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

    status: (): ProcessStatus => ({
      number,
      pid,
      // One that may end its job first is still up to supervisord, and no longer what was asked for.
      state: ending !== null && state === "RUNNING" ? "STOPPING" : state,
      since: new Date(sinceMs),
      exitCode: exit.code,
      restarts,
      reason,
      isStoppedElsewhere: reason === stoppedByOthers || reason === removedByOthers,
      ...history.status(),
    }),
  };
}

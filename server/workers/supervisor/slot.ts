// Keeps one process of a worker up: supervisord's states, see http://supervisord.org/subprocess.html#process-states. It reaches
// the system only through its ports.
import type { ProcessState } from "../../../contract/workers/worker.ts";
import type { ProcessStatus, Program } from "../processes/process-manager.ts";
import { createFailedStarts } from "./failed-starts.ts";
import type { Leader } from "./process-table.ts";
import { exitCause, notBegun, sentence, startCause } from "./reasons.ts";
import type { RunRecord } from "./run-file.ts";
import { createEnding, type EndKind } from "./slot-ending.ts";
import { createSlotOrders } from "./slot-orders.ts";
import { createRunHistory } from "./run-history.ts";
import type { Found, SlotPorts } from "./slot-ports.ts";
import { createSlotTimers } from "./slot-timers.ts";

export type Slot = ReturnType<typeof createSlot>;

/** With zero start seconds, only this limits how often a program that exits at once is started. */
const leastMsBetweenStarts = 1000;

export function createSlot(number: number, program: () => Program, ports: SlotPorts) {
  const { clock, hasWorked = () => true, hasBegun = () => true } = ports;
  let state: ProcessState = "STOPPED";
  let since = clock.now();
  let startedAt = since;
  let reason: string | null = null;
  let nonce = "";
  let leader: Leader | null = null;
  let exitCode: number | null = null;
  let restarts = 0;
  const history = createRunHistory(clock.now);
  const failures = createFailedStarts();
  /** Why the last stop or restart needed a kill; null = it did not. */
  let killed: string | null = null;
  /** Whether the process should be up. A stopped slot that is wanted starts again. */
  let wanted = false;
  let unsaved = false;
  const stopped: (() => void)[] = [];
  const timers = createSlotTimers(ports);
  const { wait } = timers;
  const ending = createEnding(
    () => history.startedAs() ?? program(),
    ports,
    (why) => {
      killed = why;
      reason = why;
    },
  );

  const save = (): string | null => {
    const problem = ports.save({
      boot: ports.boot,
      nonce,
      pid: leader?.pid ?? null,
      startTime: leader?.startTime ?? null,
      state,
      since,
      exitCode,
      restarts,
      failures: failures.count(),
      ...history.toRecord(),
    });
    unsaved = problem !== null;
    return problem;
  };

  const rest = () => {
    timers.rest();
    ending.cancel();
  };

  /** Enters a state. Every caller ends with `ports.changed`, because that may enter the next state. */
  const enter = (next: ProcessState, why: string | null) => {
    history.enter(state, next);
    state = next;
    since = clock.now();
    reason = why;
    return save();
  };
  const moveTo = (next: ProcessState, why: string | null) => {
    enter(next, why);
    ports.changed();
  };

  function spawn() {
    rest();
    const ifPresent = timers.guardLaunch();
    nonce = ports.makeNonce();
    leader = null;
    history.starts(program());
    // The nonce is on disk before a process has it: whenever the service ends, the next start knows which process to look for,
    // and recognizes descendants of earlier ones.
    const problem = enter("STARTING", reason);
    startedAt = since;
    const { startsecs } = program();
    // Timed from before the fork, so that for a process that lives exactly that long the timer fires first.
    if (startsecs > 0) wait(startsecs * 1000, runOnceBegun);
    if (problem === null) {
      leader = ports.launch(nonce, { failed: ifPresent(failed), exited: ifPresent(exited) });
      if (leader !== null) save();
    } else queueMicrotask(ifPresent(() => failed(`couldn't write the process state: ${problem}`)));
    ports.changed();
    if (leader !== null && startsecs === 0) ifPresent(run)();
  }

  /** Start seconds count from when the program itself runs, so they begin anew until then. */
  function runOnceBegun() {
    if (leader === null || hasBegun(leader)) return run();
    startedAt = clock.now();
    reason = notBegun(program());
    history.holdUp();
    wait(program().startsecs * 1000, runOnceBegun);
    ports.changed();
  }

  function run() {
    failures.forget();
    moveTo("RUNNING", null);
  }

  function failed(why: string) {
    exitCode = null;
    // The process was asked to stop before the launch reported its failure.
    if (state === "STOPPING") ending.finish(leader, comeToRest);
    else backOff(startCause(why));
  }

  function backOff(cause: string) {
    rest();
    leader = null;
    history.ended(null, program(), sentence(cause));
    const why = failures.add(cause, program().startretries);
    if (why === null) wait(failures.count() * 1000, startAgain);
    else wait(0, () => moveTo("FATAL", why));
    moveTo("BACKOFF", sentence(cause));
  }

  function startAgain() {
    restarts += 1;
    ports.restarting();
    spawn();
  }

  function exited(code: number | null, signal: string | null) {
    exitCode = code;
    // A busy service may notice the exit before its own timer fires. Like supervisord, it counts the time until it notices: to
    // give up a process that was up is worse than to start a bad one once more.
    if (state === "STARTING" && clock.now() - startedAt >= program().startsecs * 1000) run();
    if (state === "STARTING") backOff(exitCause(code, signal, program().startsecs));
    else if (state === "RUNNING") {
      rest();
      const cause = exitCause(code, signal, null);
      if (signal !== null && leader !== null) ports.wasKilled(`${cause}.`, leader.pid);
      leader = null;
      noteEnd(code, signal, sentence(cause));
      const leftMs = leastMsBetweenStarts - (clock.now() - startedAt);
      timers.waitWithin(leftMs, leastMsBetweenStarts, startAgain);
      moveTo("EXITED", sentence(cause));
    } else if (state === "STOPPING") ending.finish(leader, comeToRest);
  }

  const noteEnd = (code: number | null, signal: string | null, why: string | null) =>
    history.ended({ code, signal, livedMs: clock.now() - startedAt, hasWorked }, program(), why);

  const watch = (process: Leader) => timers.watch(process, () => exited(null, null));

  function end(process: Leader, kind: EndKind) {
    timers.cancelWait();
    killed = null;
    enter("STOPPING", null);
    ending.begin(process, kind);
    ports.changed();
  }

  /** A stop where nothing runs ends only what earlier processes left behind. */
  function endRest() {
    rest();
    killed = null;
    ending.begin(null, "stop");
    ending.finish(null, comeToRest);
  }

  function comeToRest() {
    rest();
    leader = null;
    failures.forget();
    const waiting = stopped.splice(0);
    moveTo("STOPPED", killed);
    for (const resolve of waiting) resolve();
    // The kill of the previous process is shown until the next one is up.
    if (wanted && state === "STOPPED") startFresh(killed);
  }

  function startFresh(why: string | null = null) {
    restarts = 0;
    reason = why;
    failures.forget();
    spawn();
  }

  /** Whether a stop is under way, of the process or of what earlier ones left behind. */
  const isEnding = () => state === "STOPPING" || ending.isStop();
  const untilStopped = () => new Promise<void>((resolve) => stopped.push(resolve));

  const orders = createSlotOrders({
    program,
    history,
    state: () => state,
    leader: () => leader,
    isWanted: () => wanted,
    want(isUp) {
      wanted = isUp;
    },
    isEnding,
    isStopping: ending.isStop,
    untilStopped,
    startFresh,
    comeToRest,
    end,
    endRest,
    widen: ending.widen,
  });

  /** Continues from the record of an earlier run of the service, and adopts the process if it lives. */
  function resume(record: RunRecord | null, found: Found, up: boolean) {
    wanted = up;
    if (record !== null) ({ nonce, since, exitCode, restarts } = record);
    failures.restore(record?.failures ?? 0);
    history.restore(record);
    startedAt = since;
    const isStopping = record?.state === "STOPPING";
    if (found.kind === "nothing" || (found.kind === "group" && up && !isStopping)) {
      resumeWithout(record, up);
      return;
    }
    ({ leader, nonce } = found);
    if (found.kind === "group" || isStopping) {
      end(leader, up ? "restart" : "stop");
      if (found.kind === "group") ending.finish(leader, comeToRest);
      else watch(leader);
      return;
    }
    watch(leader);
    state = record?.state === "STARTING" ? "STARTING" : "RUNNING";
    if (state === "STARTING") {
      const wholeMs = program().startsecs * 1000;
      if (since + wholeMs <= clock.now() && hasBegun(leader)) history.up(since + wholeMs);
      timers.waitWithin(since + wholeMs - clock.now(), wholeMs, runOnceBegun);
    }
    save();
    ports.changed();
    if (!up) void orders.stop();
  }

  function resumeWithout(record: RunRecord | null, up: boolean) {
    const wasUp = record !== null && record.state !== "STOPPED" && record.state !== "FATAL";
    const endedUnseen = wasUp && record.pid !== null;
    if (endedUnseen) exitCode = null;
    if (!up && record !== null && record.state !== "STOPPED") {
      // Its descendants may live, and the stop that was ordered has to end them.
      state = record.pid === null ? record.state : "STOPPING";
      endRest();
    }
    if (!up) return;
    failures.forget();
    if (!wasUp || record.state === "STOPPING") return startFresh();
    // A process that ended with the machine does not count as an exit of its own.
    if (endedUnseen && record.boot === ports.boot) noteEnd(null, null, null);
    startAgain();
  }

  return {
    number,
    ...orders,
    resume,
    /** Whether a process runs that was started before this order. */
    isOlderThan: (given: number) => leader !== null && !isEnding() && history.isBefore(given),
    hasProcess: () => leader !== null,
    isSaved: () => !unsaved,
    save,
    status: (): ProcessStatus => ({
      number,
      pid: leader?.pid ?? null,
      state,
      since: new Date(since),
      exitCode,
      restarts,
      reason,
      ...history.status(),
    }),
    /** Stops its timers, and leaves the process and its record alone. */
    release: rest,
  };
}

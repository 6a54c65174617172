// One process of a worker and the rules that keep it up: supervisord's states, step by step, see
// http://supervisord.org/subprocess.html#process-states. It knows the system only through its ports.
import type { ProcessState } from "../../../contract/workers/worker.ts";
import type { ProcessStatus, Program } from "../process-manager.ts";
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

/** With zero start seconds nothing else keeps a program that exits at once from spinning. */
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
  /** Why the last stop or restart had to kill; null where everything ended by itself. */
  let killed: string | null = null;
  /** Whether it is to be up; what has stopped and is wanted starts again. */
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

  /** Each step into a state ends with `ports.changed`, because that may take the next step itself. */
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
    // The nonce is on disk before a process bears it: whatever moment ends the service, the next one
    // knows whom to look for, and takes a descendant of an earlier process for what it is.
    const problem = enter("STARTING", reason);
    startedAt = since;
    const { startsecs } = program();
    // Counted from before the fork, so that of a process that lives just that long the wait ends first.
    if (startsecs > 0) wait(startsecs * 1000, runOnceBegun);
    if (problem === null) {
      leader = ports.launch(nonce, { failed: ifPresent(failed), exited: ifPresent(exited) });
      if (leader !== null) save();
    } else queueMicrotask(ifPresent(() => failed(`couldn't write the process state: ${problem}`)));
    ports.changed();
    if (leader !== null && startsecs === 0) ifPresent(run)();
  }

  /** The start seconds are those of the program: they begin anew as long as it has not begun. */
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
    // It was asked to stop before that was known.
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
    // A service that was held up may see the end before its own wait is over. Like supervisord, it counts the time until
    // the end is seen: to give up a process that was up is worse than to start a bad one once more.
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

  /** A stop where nothing runs: what earlier processes have left behind is all there is to end. */
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
    // That the predecessor had to be killed is said until its successor is up.
    if (wanted && state === "STOPPED") startFresh(killed);
  }

  function startFresh(why: string | null = null) {
    restarts = 0;
    reason = why;
    failures.forget();
    spawn();
  }

  /** Whether something is on its way down, be it what earlier processes left behind. */
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

  /** Takes up what an earlier life of the service left: its record, and the process if it lives. */
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
      // What it left behind may live, and the stop that was asked for was to end it.
      state = record.pid === null ? record.state : "STOPPING";
      endRest();
    }
    if (!up) return;
    failures.forget();
    if (!wasUp || record.state === "STOPPING") return startFresh();
    // What ended with the machine did not end by itself.
    if (endedUnseen && record.boot === ports.boot) noteEnd(null, null, null);
    startAgain();
  }

  return {
    number,
    ...orders,
    resume,
    /** Whether a process is up that was started before this order. */
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
    /** Forgets its timers and its process, and leaves both the process and its record alone. */
    release: rest,
  };
}

// One process of a worker and the rules that keep it up: supervisord's states, step by step, see
// http://supervisord.org/subprocess.html#process-states. It knows the system only through its ports.
import type { ProcessState } from "../../../contract/workers/worker.ts";
import type { Leader, ProcessStatus, Program } from "./program.ts";
import { exitCause, giveUpReason, sentence, startCause } from "./reasons.ts";
import type { RunRecord } from "./run-file.ts";
import type { Found, SlotPorts } from "./slot-ports.ts";

export type Slot = ReturnType<typeof createSlot>;

/** A process that is not our child tells nobody that it ended. */
const adoptedPollMs = 250;
const groupPollMs = 50;
/** With zero start seconds nothing else keeps a program that exits at once from spinning. */
const leastMsBetweenStarts = 1000;
const killAgainMs = 1000;

export function createSlot(number: number, program: () => Program, ports: SlotPorts) {
  const { clock } = ports;
  let state: ProcessState = "STOPPED";
  let since = clock.now();
  let startedAt = since;
  let reason: string | null = null;
  let nonce = "";
  let leader: Leader | null = null;
  let exitCode: number | null = null;
  let restarts = 0;
  let failures = 0;
  let causes = new Set<string>();
  /** Whether it is to be up; what has stopped and is wanted starts again. */
  let wanted = false;
  /** Events of an earlier launch are none of the present one. */
  let launches = 0;
  let unsaved = false;
  let cancelWait = () => {};
  let cancelWatch = () => {};
  let stopped: (() => void)[] = [];

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
      failures,
    });
    unsaved = problem !== null;
    return problem;
  };

  const wait = (delayMs: number, run: () => void) => {
    cancelWait();
    cancelWait = clock.after(delayMs, run);
  };

  const rest = () => {
    cancelWait();
    cancelWatch();
    launches += 1;
  };

  /** Each step into a state ends with `ports.changed`, because that may take the next step itself. */
  const enter = (next: ProcessState, why: string | null) => {
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
    const launch = launches;
    const ifCurrent =
      <Args extends unknown[]>(run: (...args: Args) => void) =>
      (...args: Args) => {
        if (launch === launches) run(...args);
      };
    nonce = ports.makeNonce();
    leader = null;
    // The nonce is on disk before a process bears it: whatever moment ends the service, the next one
    // knows whom to look for, and takes a descendant of an earlier process for what it is.
    const problem = enter("STARTING", reason);
    startedAt = since;
    const { startsecs } = program();
    // Counted from before the fork, so that of a process that lives just that long the wait ends first.
    if (startsecs > 0) wait(startsecs * 1000, run);
    if (problem === null) {
      leader = ports.launch(nonce, { failed: ifCurrent(failed), exited: ifCurrent(exited) });
      if (leader !== null) save();
    } else queueMicrotask(ifCurrent(() => failed(`its state could not be written: ${problem}`)));
    ports.changed();
    if (launch === launches && leader !== null && startsecs === 0) run();
  }

  function run() {
    forgetFailures();
    moveTo("RUNNING", null);
  }

  function forgetFailures() {
    failures = 0;
    causes = new Set();
  }

  const failed = (why: string) => backOff(startCause(why));

  function backOff(cause: string) {
    rest();
    leader = null;
    failures += 1;
    causes.add(cause);
    if (failures > program().startretries) {
      const why = giveUpReason(cause, failures, causes.size === 1);
      wait(0, () => moveTo("FATAL", why));
    } else wait(failures * 1000, startAgain);
    moveTo("BACKOFF", sentence(cause));
  }

  function startAgain() {
    restarts += 1;
    ports.restarting();
    spawn();
  }

  function exited(code: number | null, signal: string | null) {
    exitCode = code;
    if (state === "STARTING") backOff(exitCause(code, signal, program().startsecs));
    else if (state === "RUNNING") {
      rest();
      leader = null;
      const sinceStart = clock.now() - startedAt;
      // Both bounds, because the wall clock may have jumped either way.
      wait(
        Math.min(Math.max(leastMsBetweenStarts - sinceStart, 0), leastMsBetweenStarts),
        startAgain,
      );
      moveTo("EXITED", sentence(exitCause(code, signal, null)));
    } else if (state === "STOPPING") awaitGroup();
  }

  /** Looks every 250 ms whether the process that is not our child still lives. */
  function watch(process: Leader) {
    cancelWatch = clock.after(adoptedPollMs, () => {
      if (ports.isAlive(process)) watch(process);
      else exited(null, null);
    });
  }

  function end(process: Leader) {
    wait(program().stopwaitsecs * 1000, () => kill(process));
    enter("STOPPING", null);
    ports.signalGroup(process, `SIG${program().stopsignal}`);
    ports.changed();
  }

  function kill(process: Leader) {
    wait(killAgainMs, () => kill(process)); // what was just being forked is killed by the next
    ports.signalGroup(process, "SIGKILL");
  }

  /** The leader has ended; its children have what is left of the wait, then they are killed. */
  function awaitGroup() {
    cancelWatch();
    if (leader !== null && ports.hasGroup(leader)) {
      cancelWatch = clock.after(groupPollMs, awaitGroup);
      return;
    }
    comeToRest();
  }

  function comeToRest() {
    rest();
    leader = null;
    forgetFailures();
    const waiting = stopped;
    stopped = [];
    moveTo("STOPPED", null);
    for (const resolve of waiting) resolve();
    if (wanted && state === "STOPPED") startFresh();
  }

  function startFresh() {
    restarts = 0;
    reason = null;
    forgetFailures();
    spawn();
  }

  function start() {
    wanted = true;
    if (state === "STARTING" || state === "RUNNING" || state === "STOPPING") return;
    startFresh();
  }

  function stop(): Promise<void> {
    wanted = false;
    if (state === "STOPPED") return Promise.resolve();
    const done = new Promise<void>((resolve) => stopped.push(resolve));
    if (state !== "STOPPING") {
      if (leader === null) comeToRest();
      else end(leader);
    }
    return done;
  }

  /** Resolves when what ran is gone and its successor is on its way. */
  function restart(): Promise<void> {
    if (state === "STOPPED" || state === "FATAL" || state === "EXITED") {
      start();
      return Promise.resolve();
    }
    const done = stop();
    start();
    return done;
  }

  /** Takes up what an earlier life of the service left: its record, and the process if it lives. */
  function resume(record: RunRecord | null, found: Found, up: boolean) {
    wanted = up;
    if (record !== null) ({ nonce, since, exitCode, restarts, failures } = record);
    startedAt = since;
    const isStopping = record?.state === "STOPPING";
    if (found.kind === "nothing" || (found.kind === "group" && up && !isStopping)) {
      resumeWithout(record, up);
      return;
    }
    ({ leader, nonce } = found);
    if (found.kind === "group" || isStopping) {
      end(leader);
      if (found.kind === "group") awaitGroup();
      else watch(leader);
      return;
    }
    watch(leader);
    state = record?.state === "STARTING" ? "STARTING" : "RUNNING";
    if (state === "STARTING") {
      // The wall clock may have jumped in the meantime.
      const wholeMs = program().startsecs * 1000;
      wait(Math.min(Math.max(since + wholeMs - clock.now(), 0), wholeMs), run);
    }
    save();
    ports.changed();
    if (!up) void stop();
  }

  function resumeWithout(record: RunRecord | null, up: boolean) {
    const wasUp = record !== null && record.state !== "STOPPED" && record.state !== "FATAL";
    if (wasUp && record.pid !== null) exitCode = null; // it ended while nobody looked
    if (!up) {
      if (record?.state === "FATAL") state = "FATAL";
      else if (wasUp) moveTo("STOPPED", null);
      return;
    }
    forgetFailures();
    if (wasUp && record.state !== "STOPPING") startAgain();
    else startFresh();
  }

  return {
    number,
    start,
    stop,
    restart,
    resume,
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
    }),
    /** Forgets its timers and its process, and leaves both the process and its record alone. */
    release: rest,
  };
}

// One worker: its slots, and how they reach the disk, the log and the system.
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../clock.ts";
import type { ControlGroups } from "./control-groups.ts";
import { launch } from "./launch.ts";
import { logEnd, mayHaveWorked } from "./job-lines.ts";
import { openLog } from "./log-files.ts";
import { writeLogNote } from "./log-note.ts";
import { createLogRecovery } from "./log-recovery.ts";
import { rotateLog } from "./log-rotation.ts";
import {
  bootId,
  hasGroup,
  isAlive,
  type MarkedProcess,
  markOf,
  signalGroup,
  signalLeader,
} from "./process-table.ts";
import type { Log, ProcessStatus, Program } from "./program.ts";
import { fileProblem } from "./reasons.ts";
import { readRunFile, type RunRecord, writeRunFile } from "./run-file.ts";
import { createSlot, type Slot } from "./slot.ts";
import { sweepSlot } from "./slot-sweep.ts";
import type { LaunchEvents } from "./slot-ports.ts";

export type WorkerOptions = {
  /** The worker's own folder. */
  folder: string;
  instance: string;
  groups: ControlGroups;
  clock: Clock;
  environment: Record<string, string>;
  changed(): void;
  restarting(): void;
  /** The living processes with the worker's mark; rejects where nothing can be seen now. */
  findMarked(): Promise<readonly MarkedProcess[]>;
  /** Once for each process of a stop or restart that had to end in a KILL. */
  killing(number: number, reason: string): void;
  log: Log;
};

export type Worker = ReturnType<typeof createWorker>;

export function createWorker(first: Program, options: WorkerOptions) {
  const { folder, instance, groups, clock, log } = options;
  const { id } = first;
  const boot = bootId();
  const slots = new Map<number, Slot>();
  const children = new Set<ChildProcess>();
  const troubles = new Map<string, string>();
  /** Where the log ended at the newest start of each process. */
  const logStarts = new Map<number, number | null>();
  let program = first;
  const recovery = createLogRecovery(folder);
  let rotation: Promise<void> | null = null;
  let isClosed = false;

  const runPath = (number: number) => join(folder, `slot-${number}.json`);

  /** Says what goes wrong once, and again only after it went well or went wrong differently. */
  const note = (what: string, problem: string | null) => {
    if (problem !== null && troubles.get(what) !== problem)
      log.warn({ worker: id, problem }, `${what} failed, is tried again`);
    if (problem === null) troubles.delete(what);
    else troubles.set(what, problem);
    return problem;
  };

  const makeFolder = () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  };

  function save(number: number, record: RunRecord): string | null {
    const what = `writing the state of process ${number}`;
    try {
      makeFolder();
      writeRunFile(runPath(number), record);
      return note(what, null);
    } catch (error) {
      return note(what, fileProblem(error));
    }
  }

  function forget(number: number) {
    groups.remove(id, number);
    try {
      rmSync(runPath(number), { force: true });
    } catch (error) {
      note(`deleting the state of process ${number}`, fileProblem(error));
    }
  }

  function start(number: number, nonce: string, events: LaunchEvents) {
    const logStart = program.maxJobs > 0 ? logEnd(folder) : null;
    const launched = launch(
      {
        program,
        number,
        groups,
        mark: markOf(instance, id, number, nonce),
        environment: options.environment,
        openLog: () => openLog(folder),
      },
      events,
    );
    if (launched === null) return null;
    logStarts.set(number, logStart);
    const { child, leader } = launched;
    children.add(child);
    child.once("exit", () => children.delete(child));
    return leader;
  }

  function changed(slot: Slot) {
    const { number, state, pid, exitCode, reason } = slot.status();
    log.info({ worker: id, number, state, pid, exitCode, reason }, "worker process changed");
    dropSurplus();
    options.changed();
  }

  function tellKill(number: number, reason: string, pid: number | null) {
    log.warn({ worker: id, number, pid, reason }, "worker process is killed");
    const who = pid === null ? `Process ${number}` : `Process ${number} (pid ${pid})`;
    try {
      writeLogNote(folder, `${who}: ${reason}`, new Date(clock.now()));
      note("writing to the log", null);
    } catch (error) {
      note("writing to the log", fileProblem(error));
    }
    options.killing(number, reason);
  }

  /** Slots beyond the worker's processes are there only until what ran in them is gone. */
  function dropSurplus() {
    for (const slot of surplus()) {
      const { number, state } = slot.status();
      if (state !== "STOPPED" && state !== "FATAL") continue;
      slots.delete(number);
      forget(number);
    }
  }

  function slotOf(number: number): Slot {
    const existing = slots.get(number);
    if (existing !== undefined) return existing;
    const slot = createSlot(number, () => program, {
      clock,
      boot,
      makeNonce: () => randomBytes(8).toString("hex"),
      save: (record) => save(number, record),
      launch: (nonce, events) => start(number, nonce, events),
      isAlive,
      hasGroup,
      signalLeader: (leader, signal) => {
        note(`sending ${signal} to process ${number}`, signalLeader(leader, signal));
      },
      signalGroup: (leader, signal) => {
        note(`sending ${signal} to process ${number}`, signalGroup(leader, signal));
      },
      sweep: (leader, signal, onKill) => {
        const find = async () =>
          (await options.findMarked()).filter((mark) => mark.number === number);
        const group = groups.of({ worker: id, number });
        return sweepSlot({ leader, signal, find, onKill, group, clock, log });
      },
      killing: (reason, pid) => tellKill(number, reason, pid),
      hasWorked: () => mayHaveWorked(folder, program.args, logStarts.get(number) ?? null),
      restarting: options.restarting,
      changed: () => changed(slot),
    });
    slots.set(number, slot);
    return slot;
  }

  const wanted = () => Array.from({ length: program.processes }, (_, index) => slotOf(index + 1));
  const surplus = () => [...slots.values()].filter(({ number }) => number > program.processes);

  function recoverLog() {
    try {
      recovery.look([...slots.values()].flatMap((slot) => slot.status().pid ?? []));
      note("recovering the log", null);
    } catch (error) {
      note("recovering the log", fileProblem(error));
    }
  }

  async function rotate(): Promise<void> {
    try {
      if (await rotateLog(folder)) log.info({ worker: id }, "worker log rotated");
      note("rotating the log", null);
    } catch (error) {
      note("rotating the log", fileProblem(error));
    }
  }

  return {
    id,
    slotOf,
    dropSurplus,
    /** The newest settings count from the next start of each process on. */
    use(next: Program) {
      program = next;
    },
    start() {
      for (const slot of surplus()) void slot.stop();
      for (const slot of wanted()) slot.start();
    },
    async stop(): Promise<void> {
      await Promise.all([...slots.values()].map((slot) => slot.stop()));
    },
    async restart(): Promise<void> {
      const leaving = surplus().map((slot) => slot.stop());
      await Promise.all([...leaving, ...wanted().map((slot) => slot.restart())]);
    },
    /** Replaces what carries an older deployment than is required. */
    async deploy(): Promise<void> {
      await Promise.all([...slots.values()].map((slot) => slot.deploy()));
    },
    /** Numbers from 1 of the processes that it has now, or had when the service ended. */
    recordedNumbers(): number[] {
      try {
        return readdirSync(folder).flatMap((name) => {
          const number = /^slot-([1-9]\d*)\.json$/.exec(name)?.[1];
          return number === undefined ? [] : [Number(number)];
        });
      } catch {
        return [];
      }
    },
    recordOf: (number: number): RunRecord | null => readRunFile(runPath(number)),
    processes: (): ProcessStatus[] =>
      [...slots.values()].map((slot) => slot.status()).sort((a, b) => a.number - b.number),
    /** Whether there is something to look after once a second. */
    isBusy: () => [...slots.values()].some((slot) => slot.hasProcess() || !slot.isSaved()),
    /** Never rejects, never overlaps itself. */
    async lookAfter(): Promise<void> {
      if (isClosed) return;
      recoverLog();
      for (const slot of slots.values()) if (!slot.isSaved()) slot.save();
      rotation ??= rotate();
      await rotation;
      rotation = null;
    },
    /** After it nothing is written into the folder any more. */
    async close(): Promise<void> {
      isClosed = true;
      await rotation;
    },
    /** Lets go of its processes, which go on. */
    release() {
      for (const slot of slots.values()) slot.release();
      for (const child of children) child.unref();
    },
  };
}

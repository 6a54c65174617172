// Implements the ports of a worker's slots: records and log on disk, processes, signals.
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import type { Program } from "../processes/process-manager.ts";
import type { ControlGroups } from "./control-groups.ts";
import { typedFolder } from "./directory.ts";
import { isIndirect, launch, pathIn } from "./launch.ts";
import { logEnd, mayHaveWorked, outputSince } from "./job-lines.ts";
import { openLog } from "./log-files.ts";
import { writeLogNote } from "./log-note.ts";
import { createLogRecovery } from "./log-recovery.ts";
import { rotateLog } from "./log-rotation.ts";
import type { Marks } from "./marks.ts";
import {
  bootId,
  hasBegun,
  hasGroup,
  isAlive,
  markOf,
  signalGroup,
  signalLeader,
} from "./process-table.ts";
import { accountProblem, fileProblem } from "./reasons.ts";
import { readRunFile, type RunRecord, writeRunFile } from "./run-file.ts";
import { sweepSlot } from "./slot-sweep.ts";
import type { LaunchEvents, SlotPorts } from "./slot-ports.ts";

type WorkerSystemOptions = {
  id: number;
  /** The worker's folder. */
  folder: string;
  instance: string;
  groups: ControlGroups;
  marks: Marks;
  environment: Record<string, string>;
  /** @returns the program of a process, with the newest settings that it should have */
  programOf(number: number): Program;
  clock: Clock;
  log: Log;
};

/** What a slot reports. */
type SlotEvents = Pick<SlotPorts, "restarting" | "changed"> & { killing(reason: string): void };

export type WorkerSystem = ReturnType<typeof createWorkerSystem>;

export function createWorkerSystem(options: WorkerSystemOptions) {
  const { id, folder, instance, groups, marks, programOf, clock, log } = options;
  const boot = bootId();
  const children = new Set<ChildProcess>();
  const troubles = new Map<string, string>();
  /** Size of the log at the newest start of each process. */
  const logStarts = new Map<number, number | null>();
  const recovery = createLogRecovery(folder);
  let rotation: Promise<void> | null = null;
  let isClosed = false;

  const runPath = (number: number) => join(folder, `slot-${number}.json`);

  /** Logs a problem once, and again only after it was gone or has changed. */
  const note = (what: string, problem: string | null) => {
    if (problem !== null && troubles.get(what) !== problem)
      log.warn({ worker: id, problem }, `${what} failed, is tried again`);
    if (problem === null) troubles.delete(what);
    else troubles.set(what, problem);
    return problem;
  };

  /** @returns null, or the file system's error */
  const attempt = (what: string, run: () => void): string | null => {
    try {
      run();
      return note(what, null);
    } catch (error) {
      return note(what, fileProblem(error));
    }
  };

  const save = (number: number, record: RunRecord): string | null =>
    attempt(`writing the state of process ${number}`, () => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      chmodSync(folder, 0o700);
      writeRunFile(runPath(number), record);
    });

  function start(number: number, nonce: string, events: LaunchEvents) {
    const program = programOf(number);
    const isWrapped = isIndirect(program);
    const logStart = program.maxJobs > 0 || isWrapped ? logEnd(folder) : null;
    const startedAt = clock.now();
    /**
     * A command that changes the account or enters the folder exits like the program itself; only the log says that the program
     * was never started.
     */
    const exited: LaunchEvents["exited"] = (code, signal) => {
      const isEarly = clock.now() - startedAt < Math.max(1, program.startsecs) * 1000;
      const problem =
        isWrapped && isEarly && code !== null
          ? accountProblem(code, outputSince(folder, logStart), {
              directory: typedFolder(program),
              path: pathIn(options.environment),
              account: "name" in program.account ? program.account.name : "",
            })
          : null;
      if (problem === null) events.exited(code, signal);
      else events.failed(problem);
    };
    const launched = launch(
      {
        program,
        number,
        groups,
        mark: markOf(instance, id, number, nonce),
        environment: options.environment,
        openLog: () => openLog(folder),
      },
      { failed: events.failed, exited },
    );
    if (launched === null) return null;
    logStarts.set(number, logStart);
    const { child, leader } = launched;
    children.add(child);
    child.once("exit", () => children.delete(child));
    return leader;
  }

  function noteInLog(number: number, reason: string, pid: number | null) {
    const who = pid === null ? `Process ${number}` : `Process ${number} (pid ${pid})`;
    attempt("writing to the log", () =>
      writeLogNote(folder, `${who}: ${reason}`, new Date(clock.now())),
    );
  }

  function tellKill(number: number, reason: string, pid: number | null) {
    log.warn({ worker: id, number, pid, reason }, "worker process is killed");
    noteInLog(number, reason, pid);
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
    portsOf: (number: number, events: SlotEvents): SlotPorts => ({
      clock,
      boot,
      makeNonce: () => randomBytes(8).toString("hex"),
      save: (record) => save(number, record),
      launch: (nonce, launchEvents) => start(number, nonce, launchEvents),
      isAlive,
      hasBegun,
      hasGroup,
      signalLeader: (leader, signal) => {
        note(`sending ${signal} to process ${number}`, signalLeader(leader, signal));
      },
      signalGroup: (leader, signal) => {
        note(`sending ${signal} to process ${number}`, signalGroup(leader, signal));
      },
      sweep: (leader, signal, onKill) => {
        const find = async () => (await marks.find(id)).filter((mark) => mark.number === number);
        const group = groups.of({ worker: id, number });
        return sweepSlot({ leader, signal, find, onKill, group, clock, log });
      },
      killing(reason, pid) {
        tellKill(number, reason, pid);
        events.killing(reason);
      },
      wasKilled: (reason, pid) => noteInLog(number, reason, pid),
      hasWorked: () => mayHaveWorked(folder, programOf(number).args, logStarts.get(number) ?? null),
      restarting: events.restarting,
      changed: events.changed,
    }),

    /** @returns the numbers of the processes that the worker has now, or had when the service ended; counted from 1 */
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

    /** Removes the files of a process that the worker no longer has. */
    forget(number: number) {
      groups.remove(id, number);
      attempt(`deleting the state of process ${number}`, () =>
        rmSync(runPath(number), { force: true }),
      );
    },

    /**
     * Recovers and rotates the log. Never rejects, never overlaps itself.
     * @param pids pids of the worker's processes
     */
    async lookAfterLog(pids: readonly number[]): Promise<void> {
      if (isClosed) return;
      attempt("recovering the log", () => recovery.look(pids));
      rotation ??= rotate();
      await rotation;
      rotation = null;
    },

    /** After this, nothing is written into the folder. */
    async close(): Promise<void> {
      isClosed = true;
      await rotation;
    },

    /** Stops watching the processes, which keep running. */
    release() {
      for (const child of children) child.unref();
    },
  };
}

// Keeps the processes of all workers up, like supervisord, inside the service. Its processes outlive it:
// each bears a mark in its environment and leaves a record on the disk, so that the next start of the
// service takes it up again instead of starting a second one.
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../clock.ts";
import { awaitsProcess, findProcess } from "./adoption.ts";
import { createControlGroups } from "./control-groups.ts";
import { type LogPart, readLogOrProblem } from "./log-reader.ts";
import {
  bootId,
  createMarkScanner,
  hasGroup,
  isAlive,
  type MarkedProcess,
  markedProcesses,
} from "./process-table.ts";
import type { Log, ProcessStatus, Program } from "./program.ts";
import { sweep } from "./sweep.ts";
import { createWorker, type Worker } from "./worker.ts";

export { supportsAdoption } from "./process-table.ts";
export type { ProcessStatus, Program } from "./program.ts";

export type SupervisorOptions = {
  /** Its own; one folder below it for each worker. */
  folder: string;
  /** Tells the processes of this installation from those of another one on the machine. */
  instance: string;
  clock: Clock;
  /** What workers inherit, without the secrets of the service. */
  environment: Record<string, string>;
  /** After each change of a process; ask `processes(id)` what it is now. */
  onChange(id: number): void;
  /** Each time a process is started that had ended by itself or never came up. */
  onRestart?: () => void;
  /** Each time a process had to be killed, because a stop or restart had lasted its stop seconds. */
  onKill?: (id: number, killed: { number: number; reason: string }) => void;
  log: Log;
};

export type Resumed = {
  program: Program;
  up: boolean;
  /** The newest order to restart: a process that was started before it is restarted now. */
  restartOrder?: number | null;
};

export type Supervisor = {
  /**
   * Once, before anything else: takes up the living processes of the given programs, starts what should
   * be up and is not, goes on with restarts that were cut off, and sees to the end of what should be down and of what no
   * program claims.
   */
  resume(programs: readonly Resumed[]): Promise<void>;
  /** Brings up what is not; what runs stays as it is. The count of failed starts begins anew. */
  start(program: Program): void;
  /** Resolves when every process of the worker is gone. */
  stop(id: number): Promise<void>;
  /** Ends each process gracefully and starts it anew; resolves when the last is on its way. */
  restart(program: Program): Promise<void>;
  /** Replaces each process that carries an older deployment than the program requires; the rest stays as it is. */
  deploy(program: Program): Promise<void>;
  /** Stops, ends all that still bears the worker's mark, deletes its files. Rejects where those stay. */
  remove(id: number): Promise<void>;
  processes(id: number): ProcessStatus[];
  /**
   * At most 64 KiB of the log: its last lines, or what follows an offset. Offsets count bytes from the
   * worker's first one, through every rotation. Where the log cannot be read, nothing and why.
   */
  readLog(id: number, from: { lines: number } | { offset: number }): Promise<LogPart>;
  stopAll(): Promise<void>;
  /** Forgets everything at once and leaves the processes to the next start of the service. */
  release(): void;
};

const lookAfterMs = 1000;
/** How long a process may take to show its mark when the service was killed in the middle of its start. */
const startLagMs = 500;

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { instance, clock, log } = options;
  if (!/^[\w.:-]+$/.test(instance)) throw new Error(`"${instance}" cannot be part of a mark`);
  const groups = createControlGroups(instance);
  const allMarked = () => markedProcesses(instance, groups);
  const workers = new Map<number, Worker>();
  /** Whom each worker runs as, or did before its account changed; a process of anybody else only says that it is the worker's. */
  const uids = new Map<number, Set<number>>();
  const leaving = new Set<number>();
  let isReleased = false;
  let isLookingAfter = false;
  let cancelLook = () => {};

  try {
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    chmodSync(options.folder, 0o700);
  } catch (error) {
    log.error({ err: error, folder: options.folder }, "the folder of the workers cannot be used");
  }

  const folderOf = (id: number) => join(options.folder, String(id));

  const isOf = ({ worker, uid, isEnclosed }: MarkedProcess): boolean =>
    isEnclosed || (uids.get(worker)?.has(uid) ?? true);
  const marksOf = (id: number) => allMarked().filter((mark) => mark.worker === id && isOf(mark));
  const scan = createMarkScanner(instance, groups, clock);

  function workerOf(program: Program): Worker {
    if ("uid" in program.account)
      uids.set(program.id, (uids.get(program.id) ?? new Set()).add(program.account.uid));
    const existing = workers.get(program.id);
    existing?.use(program);
    if (existing !== undefined) return existing;
    const worker = createWorker(program, {
      ...options,
      groups,
      folder: folderOf(program.id),
      restarting: () => options.onRestart?.(),
      findMarked: async () => ((await scan()).get(program.id) ?? []).filter(isOf),
      killing: (number, reason) => options.onKill?.(program.id, { number, reason }),
      changed() {
        lookAfterSoon();
        try {
          options.onChange(program.id);
        } catch (error) {
          log.error({ err: error, worker: program.id }, "a change of a worker was not taken");
        }
      },
    });
    workers.set(program.id, worker);
    return worker;
  }

  function lookAfterSoon() {
    if (isLookingAfter || isReleased) return;
    isLookingAfter = true;
    cancelLook = clock.after(lookAfterMs, () => void lookAfter());
  }

  async function lookAfter() {
    for (const worker of workers.values()) if (worker.isBusy()) await worker.lookAfter();
    isLookingAfter = false;
    if ([...workers.values()].some((worker) => worker.isBusy())) lookAfterSoon();
  }

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      clock.after(ms, resolve);
    });

  const sweepAway = (find: () => MarkedProcess[]) =>
    sweep({ find, clock, log, isReleased: () => isReleased });

  /** Numbers of the worker's slots: those it should have, and those that left something. */
  function numbersOf(worker: Worker, program: Program, marks: readonly MarkedProcess[]) {
    const asked = Array.from({ length: program.processes }, (_, index) => index + 1);
    return new Set([...asked, ...worker.recordedNumbers(), ...marks.map(({ number }) => number)]);
  }

  function resumeWorker(
    { program, up, restartOrder = null }: Resumed,
    all: readonly MarkedProcess[],
  ) {
    const worker = workerOf(program);
    const marks = all.filter((mark) => mark.worker === program.id);
    const extra = [...numbersOf(worker, program, marks)].flatMap((number) => {
      const record = worker.recordOf(number);
      const finding = findProcess(
        record,
        marks.filter((mark) => mark.number === number),
        { boot: bootId(), isAlive, hasGroup },
      );
      const slot = worker.slotOf(number);
      slot.resume(record, finding.found, up && number <= program.processes);
      if (up && restartOrder !== null && slot.isOlderThan(restartOrder)) void slot.restart();
      return finding.extra;
    });
    worker.dropSurplus();
    // A deployment that was answered for is carried out, whatever ended the service after that.
    void worker.deploy();
    if (extra.length === 0) return;
    const nonces = new Set(extra.map(({ nonce }) => nonce));
    log.warn({ worker: program.id, pids: extra.map(({ pid }) => pid) }, "ending extra processes");
    void sweepAway(() => marksOf(program.id).filter(({ nonce }) => nonces.has(nonce)));
  }

  /** Looks twice where a process may be between its fork and the moment it shows its mark. */
  async function findMarks(programs: readonly Program[]): Promise<MarkedProcess[]> {
    // First each worker's account is taken note of.
    for (const program of programs) workerOf(program);
    const marks = allMarked().filter(isOf);
    const boot = bootId();
    const isMissing = programs.some((program) => {
      const worker = workerOf(program);
      return worker.recordedNumbers().some((number) => {
        const record = worker.recordOf(number);
        return awaitsProcess(record, boot) && !marks.some(({ nonce }) => nonce === record.nonce);
      });
    });
    if (!isMissing) return marks;
    await pause(startLagMs);
    return allMarked().filter(isOf);
  }

  const withWorker = <T>(id: number, absent: T, run: (worker: Worker) => T): T => {
    const worker = workers.get(id);
    return worker === undefined ? absent : run(worker);
  };

  const stop = (id: number) => withWorker(id, Promise.resolve(), (worker) => worker.stop());

  return {
    async resume(programs) {
      const marks = await findMarks(programs.map(({ program }) => program));
      if (isReleased) return;
      for (const resumed of programs) {
        try {
          resumeWorker(resumed, marks);
        } catch (error) {
          log.error({ err: error, worker: resumed.program.id }, "a worker could not be taken up");
        }
      }
      const claimed = new Set(programs.map(({ program }) => program.id));
      const strays = new Set(
        marks.filter(({ worker }) => !claimed.has(worker)).map(({ worker }) => worker),
      );
      if (strays.size === 0) return;
      log.warn({ workers: [...strays] }, "ending processes of workers that are no more");
      void sweepAway(() => allMarked().filter(({ worker }) => strays.has(worker)));
    },

    start(program) {
      if (isReleased || leaving.has(program.id)) return;
      workerOf(program).start();
    },

    stop,

    async restart(program) {
      if (isReleased || leaving.has(program.id)) return;
      await workerOf(program).restart();
    },

    async deploy(program) {
      if (isReleased || leaving.has(program.id) || !workers.has(program.id)) return;
      await workerOf(program).deploy();
    },

    async remove(id) {
      leaving.add(id);
      try {
        await stop(id);
        await sweepAway(() => marksOf(id));
        if (isReleased) return;
        await workers.get(id)?.close();
        workers.delete(id);
        groups.remove(id);
        rmSync(folderOf(id), { recursive: true, force: true });
      } finally {
        leaving.delete(id);
      }
    },

    processes: (id) => withWorker(id, [], (worker) => worker.processes()),

    // Read at once: 64 KiB take less time than to hand them to another thread.
    readLog: async (id, from) => readLogOrProblem(folderOf(id), from),

    async stopAll() {
      await Promise.all([...workers.values()].map((worker) => worker.stop()));
      groups.removeEmpty();
    },

    release() {
      isReleased = true;
      cancelLook();
      for (const worker of workers.values()) worker.release();
      groups.removeEmpty();
    },
  };
}

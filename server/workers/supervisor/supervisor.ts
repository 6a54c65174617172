// Keeps the processes of this machine's workers up, by the rules of supervisord. The processes outlive the service: each has a
// mark in its environment and a record on disk, by which the next start adopts it instead of starting a second one.
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import type { ProcessListener, ProcessManager, Program } from "../processes/process-manager.ts";
import { createCare } from "./care.ts";
import { createControlGroups } from "./control-groups.ts";
import { readWrittenLog } from "./log-reader.ts";
import { createMarks } from "./marks.ts";
import type { MarkedProcess } from "./process-table.ts";
import type { RollingChange } from "./rolling-change.ts";
import { createSettingsChanges } from "./settings-changes.ts";
import { createSlot, type Slot } from "./slot.ts";
import { createUsageHistory, runningOf, sampleEverySeconds } from "./usage-history.ts";
import { sweep } from "./sweep.ts";
import { takeOver } from "./take-over.ts";
import { createWorkerSystem, type WorkerSystem } from "./worker-system.ts";

type SupervisorOptions = ProcessListener & {
  /** Folder with one folder for each worker. */
  folder: string;
  /** Distinguishes the processes of this installation from those of others on the machine. */
  instance: string;
  /** Environment of all workers, without the service's secrets. */
  environment: Record<string, string>;
  /** Called when a process is started again that ended by itself or did not come up. */
  onRestart(): void;
  clock: Clock;
  log: Log;
};

type Worker = {
  /** The newest settings, which a process gets at its next start. */
  program: Program;
  /** By number of the process, counted from 1. */
  slots: Map<number, Slot>;
  system: WorkerSystem;
  /** Set while processes are replaced by ones with other settings. */
  change: RollingChange | null;
};

export function createSupervisor(options: SupervisorOptions): ProcessManager {
  const { instance, clock, log } = options;
  if (!/^[\w.:-]+$/.test(instance)) throw new Error(`"${instance}" cannot be part of a mark`);
  const groups = createControlGroups(instance);
  const marks = createMarks(instance, groups, clock);
  const workers = new Map<number, Worker>();
  const leaving = new Set<number>();
  let isReleased = false;

  const care = createCare({ workers: () => workers.values(), clock });
  const usage = createUsageHistory({
    running: () => [...workers.values()].flatMap(runningOf),
    clock,
    log,
  });
  usage.start();

  try {
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    chmodSync(options.folder, 0o700);
  } catch (error) {
    log.error({ err: error, folder: options.folder }, "the folder of the workers cannot be used");
  }

  const folderOf = (id: number) => join(options.folder, String(id));

  const programOf = ({ change, program }: Worker, number: number) =>
    change?.programOf(number) ?? program;

  function workerOf(program: Program): Worker {
    const { id } = program;
    marks.noteAccount(program);
    const existing = workers.get(id);
    if (existing !== undefined) {
      existing.program = program;
      return existing;
    }
    const worker: Worker = {
      program,
      slots: new Map(),
      system: createWorkerSystem({
        ...options,
        id,
        folder: folderOf(id),
        groups,
        marks,
        programOf: (number) => programOf(worker, number),
      }),
      change: null,
    };
    workers.set(id, worker);
    return worker;
  }

  function slotOf(worker: Worker, number: number): Slot {
    const { slots, system } = worker;
    const { id } = worker.program;
    const existing = slots.get(number);
    if (existing !== undefined) return existing;
    const ports = system.portsOf(number, {
      restarting: options.onRestart,
      killing: (reason) => options.onKill(id, { number, reason }),
      changed: () => changed(worker, slot),
    });
    const slot = createSlot(number, () => programOf(worker, number), ports);
    slots.set(number, slot);
    return slot;
  }

  const slotsOf = (id: number): Slot[] => [...(workers.get(id)?.slots.values() ?? [])];
  const wanted = (worker: Worker) =>
    Array.from({ length: worker.program.processes }, (_, index) => slotOf(worker, index + 1));
  const surplus = ({ slots, program }: Worker) =>
    [...slots.values()].filter(({ number }) => number > program.processes);

  function changed(worker: Worker, slot: Slot) {
    const { id } = worker.program;
    const { number, state, pid, exitCode, reason } = slot.status();
    log.info({ worker: id, number, state, pid, exitCode, reason }, "worker process changed");
    worker.change?.notice(slot);
    if (state === "STARTING") usage.noteStart(id, number);
    dropSurplus(worker);
    care.begin();
    try {
      options.onChange(id);
    } catch (error) {
      log.error({ err: error, worker: id }, "a change of a worker was not taken");
    }
  }

  /** Removes slots beyond the worker's number of processes once nothing runs in them. */
  function dropSurplus(worker: Worker) {
    // If the change is undone, they are needed again.
    if (worker.change !== null) return;
    for (const slot of surplus(worker)) {
      const { number, state } = slot.status();
      if (state !== "STOPPED" && state !== "FATAL") continue;
      worker.slots.delete(number);
      worker.system.forget(number);
    }
  }

  const sweepAway = (find: () => MarkedProcess[]) =>
    sweep({ find, clock, log, isReleased: () => isReleased });

  const all = async (ends: readonly Promise<void>[]): Promise<void> =>
    void (await Promise.all(ends));
  const changes = createSettingsChanges<Worker>({
    wanted,
    surplus,
    dropSurplus,
    onChange: options.onChange,
  });
  const stop = (id: number) => {
    const worker = workers.get(id);
    if (worker?.change) changes.end(worker);
    return all(slotsOf(id).map((slot) => slot.stop()));
  };
  const deploy = (id: number) => all(slotsOf(id).map((slot) => slot.deploy()));

  return {
    resume: (programs) =>
      takeOver(programs, {
        marks,
        beginChange({ program, previous }) {
          const worker = workerOf(program);
          if (!previous) return;
          const { system } = worker;
          const carries = (number: number) => system.recordOf(number)?.settings ?? 0;
          const numbers = system.recordedNumbers();
          const outdated = numbers.filter((number) => carries(number) !== program.settings);
          changes.begin(worker, previous, outdated);
        },
        slotOf: (program, number) => slotOf(workerOf(program), number),
        systemOf: (program) => workerOf(program).system,
        onTaken(program) {
          const worker = workerOf(program);
          dropSurplus(worker);
          void changes.goOn(worker);
          // Carries out a deployment that was accepted before the service ended.
          void deploy(program.id);
        },
        sweepAway,
        isReleased: () => isReleased,
        clock,
        log,
      }),

    start(program) {
      if (isReleased || leaving.has(program.id)) return;
      const worker = workerOf(program);
      if (worker.change) changes.end(worker);
      for (const slot of surplus(worker)) void slot.stop();
      for (const slot of wanted(worker)) slot.start();
      // Replaces what a change that was interrupted has left on old settings.
      void changes.renewOutdated(worker);
    },

    stop,

    async restart(program) {
      if (isReleased || leaving.has(program.id)) return;
      const worker = workerOf(program);
      if (worker.change) changes.end(worker);
      const ends = surplus(worker).map((slot) => slot.stop());
      await all([...ends, ...wanted(worker).map((slot) => slot.restart())]);
    },

    async deploy(program) {
      if (isReleased || leaving.has(program.id) || !workers.has(program.id)) return;
      const { change } = workerOf(program);
      change?.noteDeployment(program);
      await deploy(program.id);
    },

    async change(program, previous) {
      if (isReleased || leaving.has(program.id)) return;
      await changes.change(workerOf(program), previous);
    },

    async undo(program) {
      if (isReleased || leaving.has(program.id)) return;
      await changes.undo(workerOf(program));
    },

    async remove(id) {
      leaving.add(id);
      try {
        await stop(id);
        await sweepAway(() => marks.of(id));
        if (isReleased) return;
        await workers.get(id)?.system.close();
        workers.delete(id);
        groups.remove(id);
        rmSync(folderOf(id), { recursive: true, force: true });
      } finally {
        leaving.delete(id);
      }
    },

    // The supervisor carries out orders at once, so there is nothing to withdraw.
    withdraw: () => undefined,

    known: () => [...workers.keys()],

    processes: (id) =>
      slotsOf(id)
        .map((slot) => slot.status())
        .sort((a, b) => a.number - b.number),

    usage: usage.of,
    usageEvery: sampleEverySeconds,

    // Read synchronously: handing 64 KiB to another thread takes longer.
    readLog: async (id, from) => readWrittenLog(folderOf(id), from),

    // This manager runs in the service's own process, so it is always reachable.
    refusal: async () => null,
    know: () => undefined,
    away: () => null,
    seenAt: clock.now,
    hasTaken: () => true,
    notice: () => null,

    async stopAll() {
      usage.stop();
      await all([...workers.keys()].map(stop));
      await care.stop();
      groups.removeEmpty();
    },

    release() {
      isReleased = true;
      void care.stop();
      usage.stop();
      for (const { slots, system } of workers.values()) {
        for (const slot of slots.values()) slot.release();
        system.release();
      }
      groups.removeEmpty();
    },
  };
}

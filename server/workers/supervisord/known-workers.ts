// The workers of one server: their settings, a slot for each process, and their records on the service's machine.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import type { ProcessListener, Program } from "../processes/process-manager.ts";
import type { Contact } from "./contact.ts";
import type { Machine } from "./machine.ts";
import { type Names, programSection } from "./program-file.ts";
import { readRecords, recordsText, writeRecords } from "./records.ts";
import {
  createRemoteLog,
  type ProcessLog,
  type RemoteLog,
  type SharedLogState,
} from "./remote-log.ts";
import { createSlot, type Slot } from "./slot.ts";
import type { SupervisordWorker } from "./worker.ts";

type KnownWorkersOptions = ProcessListener & {
  machine: Machine;
  contact: Contact;
  names: Names;
  /** Folder on the service's machine, with one folder for each worker. */
  folder: string;
  /** Called with the records of a worker's processes whenever they have changed. */
  onRecords?: ((id: number, text: string) => void) | undefined;
  /** How far the logs of workers were read, shared with the next reader. */
  sharedLog?: ((id: number) => SharedLogState) | undefined;
  /** Called when a process was started again that ended by itself or did not come up. */
  onRestart(): void;
  clock: Clock;
  log: Log;
};

export function createKnownWorkers(options: KnownWorkersOptions) {
  const { machine, contact, names, folder, clock, log } = options;
  const all = new Map<number, SupervisordWorker>();
  const byId: ReadonlyMap<number, SupervisordWorker> = all;
  const unwritten = new Set<number>();
  const folderOf = (id: number) => join(folder, String(id));
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    log.error({ err: error, folder }, "the folder of the workers cannot be used");
  }

  function tell(id: number) {
    try {
      options.onChange(id);
    } catch (error) {
      log.error({ err: error, worker: id }, "a change of a worker was not taken");
    }
  }

  function changed(worker: SupervisordWorker, slot: Slot) {
    const { number, state, pid, exitCode, reason } = slot.status();
    log.info({ worker: worker.id, number, state, pid, exitCode, reason }, "worker process changed");
    worker.change?.notice(slot);
    tell(worker.id);
  }

  const createLog = (id: number, files: () => Promise<ProcessLog[]>): RemoteLog =>
    createRemoteLog({ machine, folder: folderOf(id), files, shared: options.sharedLog?.(id), log });

  function create(program: Program): SupervisordWorker {
    const { id } = program;
    const slots: SupervisordWorker["slots"] = new Map();
    const worker: SupervisordWorker = {
      id,
      program,
      slots,
      change: null,
      log: createLog(id, async () => {
        const { logFolder } = (await contact.connect()).installed;
        // Includes stopped processes, which have logs, too.
        const asked = Array.from({ length: worker.program.processes }, (_, index) => index + 1);
        const numbers = new Set([...asked, ...slots.keys()]);
        return [...numbers].map((number) => ({
          path: names.logOf(logFolder, id, number),
          isOpen: slots.get(number)?.hasProcess() === true,
        }));
      }),
      fileText: null,
      isFileDue: false,
      fileNotice: null,
      delayNotice: null,
      tidyingNotice: null,
      deployedAtMs: clock.now(),
      orderedAtMs: 0,
      recordsText: "",
      awayReason: undefined,
      removing: null,
      removed: null,
    };
    return worker;
  }

  function slotOf(worker: SupervisordWorker, number: number): Slot {
    const { slots, id } = worker;
    const existing = slots.get(number);
    if (existing !== undefined) return existing;
    const program = () => worker.change?.programOf(number) ?? worker.program;
    const slot = createSlot(number, {
      nowMs: clock.now,
      program,
      target: () =>
        programSection({
          program: program(),
          number,
          names,
          logFolder: contact.installed()?.logFolder ?? "/var/log/supervisor",
          environment: machine.environment,
        }),
      deployedAtMs: () => worker.deployedAtMs,
      restarting: options.onRestart,
      killing: (reason) => options.onKill(id, { number, reason }),
      changed: () => changed(worker, slot),
    });
    slots.set(number, slot);
    return slot;
  }

  const surplus = ({ slots, program }: SupervisordWorker) =>
    [...slots.values()].filter(({ number }) => number > program.processes);

  /** Removes slots beyond the worker's number of processes once supervisord has no group for them. @returns whether it removed any */
  function dropSurplus(worker: SupervisordWorker): boolean {
    if (worker.change !== null) return false;
    const gone = surplus(worker).filter((slot) => !slot.isThere() && !slot.isBusy());
    for (const { number } of gone) worker.slots.delete(number);
    return gone.length > 0;
  }

  function save(worker: SupervisordWorker) {
    const text = recordsText(
      [...worker.slots.values()].map((slot) => [slot.number, slot.record()]),
    );
    if (text === worker.recordsText) return;
    options.onRecords?.(worker.id, text);
    try {
      writeRecords(folderOf(worker.id), text);
      worker.recordsText = text;
      unwritten.delete(worker.id);
    } catch (error) {
      // Logged once for all retries.
      if (!unwritten.has(worker.id))
        log.warn({ err: error, worker: worker.id }, "the records of a worker were not written");
      unwritten.add(worker.id);
    }
  }

  return {
    byId,
    /** Returns the worker with these settings; creates it if it is new. */
    workerOf(program: Program): SupervisordWorker {
      const existing = all.get(program.id);
      if (existing === undefined) {
        const made = create(program);
        all.set(program.id, made);
        return made;
      }
      if (existing.program.deployment !== program.deployment) existing.deployedAtMs = clock.now();
      existing.program = program;
      existing.isFileDue = true;
      return existing;
    },
    slotOf,
    slotsOf: (id: number): Slot[] => [...(all.get(id)?.slots.values() ?? [])],
    wanted: (worker: SupervisordWorker) =>
      Array.from({ length: worker.program.processes }, (_, index) => slotOf(worker, index + 1)),
    surplus,
    dropSurplus,
    tell,
    /** Returns the records of a worker's processes that an earlier run of the service wrote. */
    recordsOf: (id: number) => readRecords(folderOf(id)),
    /** Returns the log of a worker; of an unknown one, what was fetched of it. */
    logOf: (id: number): RemoteLog => all.get(id)?.log ?? createLog(id, async () => []),
    remove(id: number) {
      all.delete(id);
      unwritten.delete(id);
      rmSync(folderOf(id), { recursive: true, force: true });
    },
    /** To be called after each poll. @param away why supervisord is unreachable; null = it responded */
    noteLook(away: string | null) {
      for (const worker of all.values()) {
        // Without the removed slots, the worker may have the wanted state.
        if (dropSurplus(worker)) tell(worker.id);
        save(worker);
      }
      for (const [id, worker] of all) {
        if (worker.awayReason === away) continue;
        worker.awayReason = away;
        tell(id);
      }
    },
  };
}

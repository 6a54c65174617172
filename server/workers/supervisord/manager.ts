// Keeps the processes of the workers of one server up by the supervisord that the server has. What is to be stands here,
// what is stands there; each turn looks, and takes the steps from the one to the other. Whatever ends the service, or
// the way to the server, the next turn finds what is left to do by looking.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import {
  OrderWithdrawn,
  type LookingManager,
  type ProcessListener,
  type Program,
} from "../process-manager.ts";
import { toError } from "../../to-error.ts";
import { createSettingsChanges } from "../supervisor/settings-changes.ts";
import { sampleEverySeconds } from "../supervisor/usage-history.ts";
import { createContact } from "./contact.ts";
import { SupervisordMissing } from "./installed.ts";
import type { Machine } from "./machine.ts";
import { createNames, programSection } from "./program-file.ts";
import { readRecords, recordsText, writeRecords } from "./records.ts";
import { createRemoteLog } from "./remote-log.ts";
import { createSlot, type Slot } from "./slot.ts";
import { createTurn } from "./turn.ts";
import type { SupervisordWorker } from "./worker.ts";

type SupervisordOptions = ProcessListener & {
  machine: Machine;
  /** The configuration file of supervisord that the inventory names; null = one of the usual ones. */
  config: string | null;
  /** Here; one folder below it for each worker. */
  folder: string;
  /** Tells the workers of this installation from those of another one that uses the same supervisord. */
  instance: string;
  /** Each time a process was started that had ended by itself or never came up. */
  onRestart(): void;
  clock: Clock;
  log: Log;
  pace?: Pace;
};

/** Milliseconds between two looks. */
type Pace = {
  /** While something is on its way. */
  busyMs: number;
  /** While it cannot be asked: with the time between two attempts to connect, its return shows within 10 s. */
  awayMs: number;
  /** What changes by nobody's order shows that much later. */
  restMs: number;
  /** At the program files: a change of one is promised to show within a minute. */
  compareMs: number;
};

/** A request waits so long for what is against it. */
const refusalMs = 2000;

const usualPace: Pace = { busyMs: 200, awayMs: 2000, restMs: 4000, compareMs: 45_000 };

export function createSupervisordManager(options: SupervisordOptions) {
  const { machine, folder, clock, log, pace = usualPace } = options;
  const names = createNames(options.instance);
  const contact = createContact({ ...options, nowMs: clock.now });
  const workers = new Map<number, SupervisordWorker>();
  /** To be gone on with once it is known what runs. */
  let atContact: (() => void)[] = [];
  const released = new AbortController();
  let isBusy = false;
  let running: Promise<void> | null = null;
  let isWanted = false;
  let cancel = () => {};

  const folderOf = (id: number) => join(folder, String(id));

  function workerOf(program: Program): SupervisordWorker {
    const { id } = program;
    const existing = workers.get(id);
    if (existing !== undefined) {
      if (existing.program.deployment !== program.deployment) existing.deployedAtMs = clock.now();
      existing.program = program;
      existing.isFileDue = true;
      return existing;
    }
    const worker: SupervisordWorker = {
      id,
      program,
      slots: new Map(),
      change: null,
      log: createRemoteLog({
        machine,
        folder: folderOf(id),
        paths: async () => {
          const { logFolder } = (await contact.connect()).installed;
          return [...worker.slots.keys()].map((number) => names.logOf(logFolder, id, number));
        },
      }),
      fileText: null,
      isFileDue: false,
      fileNotice: null,
      deployedAtMs: clock.now(),
      recordsText: "",
      awayReason: undefined,
      removing: null,
      removed: null,
    };
    workers.set(id, worker);
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

  const slotsOf = (id: number): Slot[] => [...(workers.get(id)?.slots.values() ?? [])];
  const wanted = (worker: SupervisordWorker) =>
    Array.from({ length: worker.program.processes }, (_, index) => slotOf(worker, index + 1));
  const surplus = ({ slots, program }: SupervisordWorker) =>
    [...slots.values()].filter(({ number }) => number > program.processes);

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

  /** Slots beyond the worker's processes are there only until what ran in them is gone. */
  function dropSurplus(worker: SupervisordWorker) {
    if (worker.change !== null) return;
    for (const slot of surplus(worker))
      if (!slot.isThere() && !slot.isBusy()) worker.slots.delete(slot.number);
  }

  const changes = createSettingsChanges<SupervisordWorker>({
    wanted,
    surplus,
    dropSurplus,
    onChange: tell,
  });

  function save(worker: SupervisordWorker) {
    const text = recordsText(
      [...worker.slots.values()].map((slot) => [slot.number, slot.record()]),
    );
    if (text === worker.recordsText) return;
    try {
      writeRecords(folderOf(worker.id), text);
      worker.recordsText = text;
    } catch (error) {
      log.warn({ err: error, worker: worker.id }, "the records of a worker were not written");
    }
  }

  const turn = createTurn({
    names,
    machine,
    workers,
    log,
    nowMs: clock.now,
    compareMs: pace.compareMs,
    released: released.signal,
  });

  async function look(): Promise<void> {
    try {
      const isFirst = contact.isNew();
      const connected = await contact.connect();
      isBusy = await turn(connected, isFirst);
      contact.succeeded();
      const goOn = atContact;
      atContact = [];
      for (const step of goOn) step();
      if (goOn.length > 0) isWanted = true;
    } catch (error) {
      contact.failed(error);
      log.warn({ err: error }, "supervisord was not asked, is tried again");
    }
    for (const worker of workers.values()) {
      dropSurplus(worker);
      save(worker);
    }
    const reason = contact.away()?.reason ?? null;
    for (const [id, worker] of workers) {
      if (worker.awayReason === reason) continue;
      worker.awayReason = reason;
      tell(id);
    }
  }

  async function run(): Promise<void> {
    while (isWanted && !released.signal.aborted) {
      isWanted = false;
      await look();
    }
    running = null;
    if (released.signal.aborted) return contact.close();
    // Without workers there is nothing to look after.
    if (workers.size > 0 || isBusy) cancel = clock.after(nextLookMs(), wake);
  }

  function nextLookMs(): number {
    if (isBusy && contact.away() === null) return pace.busyMs;
    return contact.isFailing() ? pace.awayMs : pace.restMs;
  }

  function wake() {
    if (released.signal.aborted) return;
    isWanted = true;
    if (running !== null) return;
    cancel();
    running = run();
  }

  /** The ends of what was begun; each goes on with the next looks. */
  const all = async (ends: readonly Promise<void>[]): Promise<void> => {
    wake();
    await Promise.all(ends);
  };

  const isLeaving = (id: number) => released.signal.aborted || workers.get(id)?.removed != null;

  function stop(id: number): Promise<void> {
    const worker = workers.get(id);
    if (worker?.change) changes.end(worker);
    return all(slotsOf(id).map((slot) => slot.stop()));
  }

  async function removeKnown(worker: SupervisordWorker): Promise<void> {
    const removing = new AbortController();
    worker.removing = removing;
    await stop(worker.id);
    removing.signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    removing.signal.addEventListener("abort", () => reject(toError(removing.signal.reason)));
    worker.removed = resolve;
    wake();
    await promise;
  }

  function release() {
    released.abort();
    cancel();
    if (running === null) contact.close();
  }

  const deploy = (id: number) => all(slotsOf(id).map((slot) => slot.deploy()));

  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    log.error({ err: error, folder }, "the folder of the workers cannot be used");
  }

  return {
    async resume(programs) {
      for (const { program, up, restartOrder = null, previous } of programs) {
        const worker = workerOf(program);
        const records = readRecords(folderOf(program.id));
        if (previous) {
          const outdated = [...records].filter(([, { settings }]) => settings !== program.settings);
          changes.begin(
            worker,
            previous,
            outdated.map(([number]) => number),
          );
        }
        const before = previous ?? program;
        const most = Math.max(program.processes, before.processes);
        const asked = Array.from({ length: before.processes }, (_, index) => index + 1);
        for (const number of new Set([...asked, ...records.keys()])) {
          const slot = slotOf(worker, number);
          const isUp = up && number <= most;
          slot.resume(records.get(number) ?? null, isUp);
          if (!isUp) void slot.stop();
          else if (restartOrder !== null && slot.isOlderThan(restartOrder)) void slot.restart();
        }
        atContact.push(() => {
          dropSurplus(worker);
          void changes.goOn(worker);
          // A deployment that was answered for is carried out, whatever ended the service after that.
          void deploy(program.id);
        });
      }
      wake();
    },

    start(program) {
      if (isLeaving(program.id)) return;
      const worker = workerOf(program);
      if (worker.change) changes.end(worker);
      for (const slot of surplus(worker)) void slot.stop();
      for (const slot of wanted(worker)) slot.start();
      // Of a change that was given up half way.
      void changes.renewOutdated(worker);
      wake();
    },

    stop,

    async restart(program) {
      if (isLeaving(program.id)) return;
      const worker = workerOf(program);
      if (worker.change) changes.end(worker);
      const ends = surplus(worker).map((slot) => slot.stop());
      await all([...ends, ...wanted(worker).map((slot) => slot.restart())]);
    },

    async deploy(program) {
      if (isLeaving(program.id) || !workers.has(program.id)) return;
      workerOf(program).change?.noteDeployment(program);
      await deploy(program.id);
    },

    async change(program, previous) {
      if (isLeaving(program.id)) return;
      const done = changes.change(workerOf(program), previous);
      await all([done]);
    },

    async undo(program) {
      if (isLeaving(program.id)) return;
      await all([changes.undo(workerOf(program))]);
    },

    withdraw(program, isUp) {
      const worker = workerOf(program);
      worker.removing?.abort(new OrderWithdrawn("The deletion was withdrawn."));
      worker.removing = null;
      worker.removed = null;
      if (worker.change) changes.end(worker);
      for (const slot of surplus(worker)) void slot.stop();
      for (const slot of wanted(worker)) slot.withdraw(isUp);
      wake();
    },

    async remove(id) {
      const worker = workers.get(id);
      // Of one that was stopped before this service was started, nothing but its log is left.
      if (worker === undefined) await turn.clean((await contact.connect()).installed, id);
      else await removeKnown(worker);
      if (released.signal.aborted) return;
      workers.delete(id);
      rmSync(folderOf(id), { recursive: true, force: true });
    },

    known: () => [...workers.keys()],
    processes: (id) =>
      slotsOf(id)
        .map((slot) => slot.status())
        .sort((a, b) => a.number - b.number),
    // What a process of another machine takes is not asked for.
    usage: () => ({ starts: [], samples: [] }),
    usageEvery: sampleEverySeconds,
    readLog: (id, from) =>
      (
        workers.get(id)?.log ??
        createRemoteLog({ machine, folder: folderOf(id), paths: async () => [] })
      ).read(from),
    async refusal() {
      const found = contact.connect().then(
        () => null,
        // What is away may be back by the time that it is needed.
        (error: unknown) => (error instanceof SupervisordMissing ? error.message : null),
      );
      return Promise.race([found, wait(refusalMs, null, { ref: false })]);
    },
    away: () => (contact.isUnseen() ? "unseen" : contact.away()),
    notice: (id) => workers.get(id)?.fileNotice ?? null,

    /** They are supervisord's, which goes on without this service. */
    async stopAll() {
      release();
    },

    release,
    wake,
  } satisfies LookingManager;
}

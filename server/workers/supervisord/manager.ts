// Keeps the processes of a server's workers up through the supervisord of that server. Each turn compares the wanted state with
// the actual state in supervisord and takes the steps that are needed, so after an interruption of the service or the
// connection, the next turn continues from the actual state.
import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import {
  OrderWithdrawn,
  type LookingManager,
  type ProcessListener,
  type Program,
} from "../processes/process-manager.ts";
import { toError } from "../../to-error.ts";
import { createSettingsChanges } from "../supervisor/settings-changes.ts";
import { sampleEverySeconds } from "../supervisor/usage-history.ts";
import { createContact } from "./contact.ts";
import { SupervisordMissing } from "./installed.ts";
import { createKnownWorkers } from "./known-workers.ts";
import { createLooks, type Pace, usualPace } from "./looks.ts";
import type { Machine } from "./machine.ts";
import { parseRecords } from "./records.ts";
import { createNames } from "./program-file.ts";
import type { SharedLogState } from "./remote-log.ts";
import { createTurn } from "./turn.ts";
import type { SupervisordWorker } from "./worker.ts";

type SupervisordOptions = ProcessListener & {
  machine: Machine;
  /** The configuration file of supervisord that the inventory names; null = a usual one. */
  config: string | null;
  /** Folder on the service's machine, with one folder for each worker. */
  folder: string;
  /** Distinguishes the workers of this installation from those of others that use the same supervisord. */
  instance: string;
  /** Called with the records of a worker's processes whenever they have changed. */
  onRecords?: ((id: number, text: string) => void) | undefined;
  /** How far the logs of workers were read, shared with the next reader. */
  sharedLog?: ((id: number) => SharedLogState) | undefined;
  /** Called when a process was started again that ended by itself or did not come up. */
  onRestart(): void;
  clock: Clock;
  log: Log;
  pace?: Pace;
};

/** How long a request waits for `refusal`. */
const refusalMs = 2000;

export function createSupervisordManager(options: SupervisordOptions) {
  const { machine, clock, log, pace = usualPace } = options;
  const names = createNames(options.instance);
  const contact = createContact({ ...options, names, nowMs: clock.now });
  const known = createKnownWorkers({ ...options, names, contact });
  const { byId: workers, workerOf, slotOf, slotsOf, wanted, surplus, dropSurplus } = known;
  const released = new AbortController();

  const changes = createSettingsChanges<SupervisordWorker>({
    wanted,
    surplus,
    dropSurplus,
    onChange: known.tell,
  });

  const turn = createTurn({
    names,
    machine,
    workers,
    log,
    nowMs: clock.now,
    compareMs: pace.compareMs,
    released: released.signal,
  });

  const looks = createLooks({
    contact,
    turn,
    looked: () => known.noteLook(contact.away()?.reason ?? null),
    isNeeded: () => workers.size > 0,
    pace,
    clock,
    log,
  });
  const { wake } = looks;

  /** Waits for steps, each of which continues with the next polls. */
  const all = async (ends: readonly Promise<void>[]): Promise<void> => {
    wake();
    await Promise.all(ends);
  };

  /** @returns the worker, with the settings of an order */
  function ordered(program: Program): SupervisordWorker {
    const worker = workerOf(program);
    worker.orderedAtMs = clock.now();
    return worker;
  }

  const isLeaving = (id: number) => released.signal.aborted || workers.get(id)?.removed != null;

  function stop(id: number): Promise<void> {
    const worker = workers.get(id);
    if (worker?.change) changes.end(worker);
    return all(slotsOf(id).map((slot) => slot.stop()));
  }

  async function removeKnown(worker: SupervisordWorker): Promise<void> {
    const removing = new AbortController();
    worker.removing = removing;
    worker.orderedAtMs = clock.now();
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
    void looks.stop();
  }

  function deploy(id: number): Promise<void> {
    const slots = slotsOf(id);
    // A worker that was stopped on the server stays stopped, as if it had been stopped by an order.
    const isStopped = slots.every((slot) => slot.status().isStoppedElsewhere === true);
    return all(isStopped ? [] : slots.map((slot) => slot.deploy()));
  }

  return {
    async resume(programs) {
      for (const { program, up, restartOrder = null, previous, records: shared } of programs) {
        const worker = workerOf(program);
        const records = shared === undefined ? known.recordsOf(program.id) : parseRecords(shared);
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
        looks.atContact(() => {
          dropSurplus(worker);
          void changes.goOn(worker);
          // Carries out a deployment that was accepted before the service ended.
          void deploy(program.id);
        });
      }
      wake();
    },

    know(program) {
      if (!workers.has(program.id)) workerOf(program);
      wake();
    },

    start(program) {
      if (isLeaving(program.id)) return;
      const worker = ordered(program);
      if (worker.change) changes.end(worker);
      for (const slot of surplus(worker)) void slot.stop();
      for (const slot of wanted(worker)) slot.start();
      // Replaces what a change that was interrupted has left on old settings.
      void changes.renewOutdated(worker);
      wake();
    },

    stop(id) {
      const worker = workers.get(id);
      if (worker !== undefined) worker.orderedAtMs = clock.now();
      return stop(id);
    },

    async restart(program) {
      if (isLeaving(program.id)) return;
      const worker = ordered(program);
      if (worker.change) changes.end(worker);
      const ends = surplus(worker).map((slot) => slot.stop());
      await all([...ends, ...wanted(worker).map((slot) => slot.restart())]);
    },

    async deploy(program) {
      if (isLeaving(program.id) || !workers.has(program.id)) return;
      ordered(program).change?.noteDeployment(program);
      await deploy(program.id);
    },

    async change(program, previous) {
      if (isLeaving(program.id)) return;
      const done = changes.change(ordered(program), previous);
      await all([done]);
    },

    async undo(program) {
      if (isLeaving(program.id)) return;
      const worker = ordered(program);
      for (const slot of wanted(worker)) slot.keep();
      worker.delayNotice = null;
      await all([changes.undo(worker)]);
    },

    withdraw(program, isUp) {
      const worker = workerOf(program);
      worker.removing?.abort(new OrderWithdrawn("The deletion was withdrawn."));
      worker.removing = null;
      worker.removed = null;
      if (worker.change) changes.end(worker);
      for (const slot of surplus(worker)) void slot.stop();
      for (const slot of wanted(worker)) slot.withdraw(isUp);
      // Completes the change that was interrupted by the withdrawn order.
      if (isUp === true) void changes.renewOutdated(worker);
      wake();
    },

    async remove(id) {
      const worker = workers.get(id);
      if (worker !== undefined) await removeKnown(worker);
      if (!released.signal.aborted) known.remove(id);
    },

    known: () => [...workers.keys()],
    processes: (id) =>
      slotsOf(id)
        .map((slot) => slot.status())
        .sort((a, b) => a.number - b.number),
    // Usage of processes on another machine is not measured.
    usage: () => ({ starts: [], samples: [] }),
    usageEvery: sampleEverySeconds,
    readLog: (id, from) => known.logOf(id).read(from),
    async refusal() {
      const found = contact.connect().then(
        () => null,
        // A server that does not respond may be back when the worker starts.
        (error: unknown) => (error instanceof SupervisordMissing ? error.message : null),
      );
      return Promise.race([found, wait(refusalMs, null, { ref: false })]);
    },
    away: () => (contact.isUnseen() ? "unseen" : contact.away()),
    seenAt: contact.seenAtMs,
    hasTaken(id) {
      const { orderedAtMs = Infinity } = workers.get(id) ?? {};
      return contact.seenAtMs() > orderedAtMs;
    },
    notice(id) {
      const worker = workers.get(id);
      return worker?.delayNotice ?? worker?.tidyingNotice ?? worker?.fileNotice ?? null;
    },

    /** Stops no process: supervisord keeps them up without this service. */
    async stopAll() {
      release();
    },

    release,
    wake,
  } satisfies LookingManager;
}

// Checks every few seconds for crash loops that began or ended, and reports each once, even across restarts of the service.
import type { Logger } from "pino";
import type { Clock } from "../../clock.ts";
import { recordEvent } from "../../events/store.ts";
import type { InventoryStore } from "../../inventory/store.ts";
import { createLoop, type Loop } from "../../jobs/loop.ts";
import { endsWindowMs, isAnyKept, isKept, judgeCrashLoop } from "./crash-loop.ts";
import { workerEvent } from "../event-data.ts";
import type { ProcessManager } from "../processes/process-manager.ts";
import type { WorkerRow, WorkerStore } from "../store.ts";

type CrashWatchOptions = {
  store: WorkerStore;
  inventory: InventoryStore;
  manager: Pick<ProcessManager, "known" | "processes" | "away">;
  clock: Clock;
  log: Logger;
};

type CrashWatch = Loop & {
  /** Begins a new count of exits, because the worker was ordered to start or restart, or its settings were changed. */
  noteOrder(row: WorkerRow): void;
  /** Continues with the crash loops that an earlier run of the service has reported. */
  resume(rows: readonly WorkerRow[]): void;
  /** To be called when another instance looks after the worker from now on. */
  forget(id: number): void;
  /** Returns the workers in a crash loop that have a process that is kept up. */
  looping(): number[];
};

const everyMs = 2000;

export function createCrashWatch(options: CrashWatchOptions): CrashWatch {
  const { store, inventory, manager, clock, log } = options;
  /** By worker in a reported crash loop: whether it continues; false after an order to start until new exits make a loop again. */
  const notified = new Map<number, boolean>();
  /** By worker: time of the last order to start. Exits before it do not count. */
  const orderedAt = new Map<number, number>();
  /** By worker in a reported crash loop: since when all of its processes are kept up, because a stopped worker is not stable. */
  const keptSince = new Map<number, number>();

  async function change(id: number, reason: string | null): Promise<void> {
    await store.transaction(async (tx) => {
      const before = await store.lock(tx, id);
      if (before === null || before.status === "removing") return;
      const loop = reason === null ? null : { since: new Date(clock.now()), reason };
      const isReported = before.crash_loop_since !== null;
      // An earlier run of the service has stored this already, just before it ended.
      if (loop === null ? !isReported : before.crash_loop_reason !== null) return;
      const row = await store.setCrashLoop(tx, id, loop);
      // The crash loop continued after the ordered start, and was already reported.
      if (isReported && loop !== null) return;
      const site = row && (await inventory.findSite(row.site_id, tx));
      if (!row || !site) return;
      const type = loop === null ? "worker.stable" : "worker.crash_looping";
      await recordEvent(tx, workerEvent(type, row, site, reason));
    });
    keptSince.delete(id);
    if (reason === null) notified.delete(id);
    else notified.set(id, true);
  }

  async function look(id: number): Promise<void> {
    // A process that was down when its server was last seen may be up since.
    if (manager.away(id) !== null) return;
    const nowMs = clock.now();
    const ordered = orderedAt.get(id) ?? 0;
    // An order in the future comes from a clock that was set back.
    const countFrom = ordered > nowMs ? 0 : ordered;
    const processes = manager.processes(id).map((process) => ({
      ...process,
      outages: process.outages.filter(({ at }) => at > countFrom),
    }));
    const verdict = judgeCrashLoop(processes, nowMs);
    const isLoop = verdict !== null && verdict !== "stable";
    if (isLoop && notified.get(id) !== true) return change(id, verdict.loops);
    if (!notified.has(id)) return;
    if (!isKept(processes)) keptSince.delete(id);
    else if (!keptSince.has(id)) keptSince.set(id, nowMs);
    const since = keptSince.get(id) ?? nowMs;
    if (verdict === "stable" && nowMs - since >= endsWindowMs) await change(id, null);
  }

  const loop = createLoop({
    name: "watch for crash loops",
    everyMs,
    async turn(signal) {
      for (const id of manager.known()) {
        if (signal.aborted) return;
        try {
          await look(id);
        } catch (error) {
          log.warn({ err: error, worker: id }, "a worker's crash loop could not be stored yet");
        }
      }
    },
    clock,
    log,
  });

  return {
    ...loop,
    noteOrder({ id }) {
      orderedAt.set(id, clock.now());
      // The time before it does not count as stable, either.
      keptSince.delete(id);
      if (notified.has(id)) notified.set(id, false);
    },
    resume(rows) {
      for (const { id, crash_loop_since: since, crash_loop_reason: reason } of rows) {
        if (since === null) continue;
        notified.set(id, reason !== null);
        if (reason === null) orderedAt.set(id, since.getTime());
      }
    },
    forget(id) {
      notified.delete(id);
      orderedAt.delete(id);
      keptSince.delete(id);
    },
    looping: () =>
      [...notified].flatMap(([id, goesOn]) =>
        goesOn && isAnyKept(manager.processes(id)) ? [id] : [],
      ),
  };
}

// Checks every few seconds for crash loops that began or ended, and reports each once, even across restarts of the service.
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import { recordEvent } from "../events/store.ts";
import type { InventoryStore } from "../inventory/store.ts";
import { createLoop, type Loop } from "../jobs/loop.ts";
import { endsWindowMs, isAnyKept, isKept, judgeCrashLoop } from "./crash-loop.ts";
import { workerEvent } from "./event-data.ts";
import type { ProcessManager } from "./process-manager.ts";
import type { WorkerStore } from "./store.ts";

type CrashWatchOptions = {
  store: WorkerStore;
  inventory: InventoryStore;
  manager: Pick<ProcessManager, "known" | "processes">;
  clock: Clock;
  log: Logger;
};

type CrashWatch = Loop & {
  /** Continues with the crash loops that an earlier run of the service has reported. */
  resume(ids: readonly number[]): void;
  /** To be called when another instance looks after the worker from now on. */
  forget(id: number): void;
  /** Returns the workers in a crash loop that have a process that is kept up. */
  looping(): number[];
};

const everyMs = 2000;

export function createCrashWatch(options: CrashWatchOptions): CrashWatch {
  const { store, inventory, manager, clock, log } = options;
  const notified = new Set<number>();
  /** By worker in a reported crash loop: since when all of its processes are kept up, because a stopped worker is not stable. */
  const keptSince = new Map<number, number>();

  async function change(id: number, reason: string | null): Promise<void> {
    await store.transaction(async (tx) => {
      const before = await store.lock(tx, id);
      if (before === null || before.status === "removing") return;
      const loop = reason === null ? null : { since: new Date(clock.now()), reason };
      // Already reported by an earlier run of the service, just before its end.
      if ((before.crash_loop_since === null) === (loop === null)) return;
      const row = await store.setCrashLoop(tx, id, loop);
      const site = row && (await inventory.findSite(row.site_id, tx));
      if (!row || !site) return;
      const type = loop === null ? "worker.stable" : "worker.crash_looping";
      await recordEvent(tx, workerEvent(type, row, site, reason));
    });
    keptSince.delete(id);
    if (reason === null) notified.delete(id);
    else notified.add(id);
  }

  async function look(id: number): Promise<void> {
    const processes = manager.processes(id);
    const nowMs = clock.now();
    const verdict = judgeCrashLoop(processes, nowMs);
    if (!notified.has(id)) {
      if (verdict !== null && verdict !== "stable") await change(id, verdict.loops);
      return;
    }
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
    resume(ids) {
      for (const id of ids) notified.add(id);
    },
    forget(id) {
      notified.delete(id);
      keptSince.delete(id);
    },
    looping: () => [...notified].filter((id) => isAnyKept(manager.processes(id))),
  };
}

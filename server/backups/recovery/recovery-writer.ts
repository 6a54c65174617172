// Keeps RECOVERY.md of each storage up to date, without delaying or failing runs.
import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import type { Clock } from "../../clock.ts";
import type { InventoryStore } from "../../inventory/store.ts";
import { failureMessage } from "../failure-message.ts";
import { clockDifferenceMs } from "../schedule/postponed.ts";
import { recoveryName, recoveryPage } from "./recovery-page.ts";
import type { RecoveryStore } from "./recovery-store.ts";
import type { Resolver } from "../resolver.ts";

type RecoveryWriterOptions = {
  recovery: RecoveryStore;
  resolver: Pick<Resolver, "storage">;
  inventory: Pick<InventoryStore, "findStorageProvider">;
  clock: Clock;
  log: Logger;
  /** Version of the service. */
  version: string;
};

export type RecoveryWriter = {
  /**
   * Schedules writing the page of a storage. To be called after the commit of the changes that it shows.
   * @param backupId the run that gets a warning of a failure
   */
  request(providerId: number, backupId?: number): void;
  /** Called at the start: writes pages that an earlier run of the service has not written. */
  resume(): Promise<void>;
  /** Writes pending pages. */
  stop(): Promise<void>;
};

/** How long requests are collected, so that runs that end together cause one write. */
const gatherMs = 200;
/** Pause before the next page, as a multiple of the time of the last one: a page of 10,000 databases takes a second. */
const restFactor = 20;
/** Longest pause, e.g. after a storage that hung for a minute. */
const maxRestMs = 20_000;
const writeLimitMs = 60_000;
const stopLimitMs = 4000;
const retryMs = 10 * 60_000;
const resumeMs = 10_000;
const latestAt = (nowMs: number): Date => new Date(nowMs + clockDifferenceMs);
/** Limit of attempts, because another instance may have written an older page meanwhile. */
const maxTries = 3;

type Pending = {
  timer: NodeJS.Timeout | undefined;
  writing: Promise<void> | null;
  isWanted: boolean;
  /** Whether it was requested since the start. */
  isAsked: boolean;
  restUntilMs: number;
  /** Runs to warn of a failure. */
  backups: Set<number>;
  /** Warnings by id of the run. */
  warned: Map<number, string>;
};

export function createRecoveryWriter(options: RecoveryWriterOptions): RecoveryWriter {
  const { recovery, resolver, inventory, clock, log, version } = options;
  const all = new Map<number, Pending>();
  const stopping = new AbortController();
  let isStopping = false;

  function pendingOf(providerId: number): Pending {
    const known = all.get(providerId);
    if (known !== undefined) return known;
    const made: Pending = {
      timer: undefined,
      writing: null,
      isWanted: false,
      isAsked: false,
      restUntilMs: 0,
      backups: new Set(),
      warned: new Map(),
    };
    all.set(providerId, made);
    return made;
  }

  /** @returns how long building the page took, in ms, without the time of the storage */
  async function write(providerId: number, isAsked: boolean, signal: AbortSignal): Promise<number> {
    const entry = await inventory.findStorageProvider(providerId);
    let workMs = 0;
    if (entry === null) return workMs;
    for (let tries = 0, written = ""; tries < maxTries; tries++) {
      const startMs = performance.now();
      const targets = await recovery.newestGood(providerId, latestAt(clock.now()));
      workMs += performance.now() - startMs;
      // A storage that never had a backup causes no warnings.
      if (targets.length === 0 && !isAsked) return workMs;
      const now = JSON.stringify(targets);
      if (now === written) return workMs;
      written = now;
      const storage = await resolver.storage(providerId);
      signal.throwIfAborted();
      if (targets.length === 0) await storage.remove(recoveryName);
      else {
        const page = recoveryPage({
          provider: entry.name,
          place: storage.place,
          client: entry.type === "local" ? null : entry.type,
          writtenAt: new Date(clock.now()),
          version,
          targets,
        });
        await storage.replace(recoveryName, Buffer.from(page), { signal });
      }
    }
    return workMs;
  }

  async function perform(providerId: number): Promise<void> {
    const pending = pendingOf(providerId);
    pending.isWanted = false;
    const backups = [...pending.backups];
    pending.backups.clear();
    const startMs = performance.now();
    let workMs = 0;
    const signal = AbortSignal.any([AbortSignal.timeout(writeLimitMs), stopping.signal]);
    try {
      workMs = await write(providerId, pending.isAsked, signal);
      for (const [id, was] of pending.warned) await recovery.removeWarning(id, was);
      pending.warned.clear();
    } catch (error) {
      log.warn({ err: error, provider: providerId }, `${recoveryName} was not written`);
      const warning = `${recoveryName} couldn't be written: ${failureMessage(error)}`;
      for (const id of backups) {
        pending.warned.set(id, warning);
        await recovery.addWarning(id, warning).catch(() => undefined);
      }
      later(providerId, retryMs);
    }
    const endMs = performance.now();
    const restMs = Math.max(restFactor * workMs, endMs - startMs);
    pending.restUntilMs = endMs + Math.min(restMs, maxRestMs);
  }

  function begin(providerId: number): Promise<void> {
    const pending = pendingOf(providerId);
    clearTimeout(pending.timer);
    pending.writing = perform(providerId).finally(() => {
      pending.writing = null;
      if (pending.isWanted) soon(providerId);
    });
    return pending.writing;
  }

  function later(providerId: number, delayMs: number): void {
    const pending = pendingOf(providerId);
    clearTimeout(pending.timer);
    if (!isStopping) pending.timer = setTimeout(() => void begin(providerId), delayMs).unref();
  }

  function soon(providerId: number): void {
    const restMs = pendingOf(providerId).restUntilMs - performance.now();
    later(providerId, Math.max(gatherMs, restMs));
  }

  async function end(): Promise<void> {
    for (const { timer } of all.values()) clearTimeout(timer);
    for (const { writing } of all.values()) await writing;
    await Promise.all([...all].filter(([, { isWanted }]) => isWanted).map(([id]) => begin(id)));
  }

  return {
    request(providerId, backupId) {
      const pending = pendingOf(providerId);
      if (backupId !== undefined) pending.backups.add(backupId);
      pending.isAsked = true;
      if (pending.isWanted) return;
      pending.isWanted = true;
      if (pending.writing === null) soon(providerId);
    },

    async resume() {
      for (const id of await recovery.providerIds())
        if (!pendingOf(id).isWanted) later(id, resumeMs);
    },

    async stop() {
      isStopping = true;
      const limit = new AbortController();
      await Promise.race([
        end(),
        wait(stopLimitMs, undefined, { signal: limit.signal }).catch(() => undefined),
      ]);
      limit.abort();
      stopping.abort(new Error("The service stops."));
    },
  };
}

// Backs up the service each night, tries to restore the result, and keeps the newest backups.
import { join } from "node:path";
import type { Logger } from "pino";
import { countOf } from "../../contract/count-text.ts";
import type { Host } from "../hosts/host.ts";
import type { Overview } from "../../contract/overview.ts";
import { toTimestamp } from "../../contract/values.ts";
import { theSchedule } from "../activity/actor.ts";
import { recordActivity } from "../activity/store.ts";
import type { NewEvent } from "../events/event.ts";
import { recordEvent } from "../events/store.ts";
import type { Clock } from "../clock.ts";
import type { SelfBackupSettings } from "../config.ts";
import { openOwn, recipientsIn } from "../doctor/storage.ts";
import { parseInventory, readText } from "../inventory/file.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import type { InventoryStore } from "../inventory/store.ts";
import { expectedErrorMessage } from "../expected-error.ts";
import type { Servers } from "../ssh/servers.ts";
import { StorageError, type ListedStorage } from "../storage/storage.ts";
import type { Database } from "../store/database.ts";
import { startEmbeddedPostgres } from "../store/embedded/embedded-postgres.ts";
import { openSide, type SideOptions } from "../store/move/side.ts";
import { toError } from "../to-error.ts";
import { createThrowawayKey } from "./encryption.ts";
import { loadArchive } from "./load-archive.ts";
import { openStored } from "./open-stored.ts";
import { claim, isDue, judge, readRecord, writeRecord, type SelfBackupRecord } from "./record.ts";
import { removeEmbedded } from "./restore-folder.ts";
import { storeArchive } from "./store-archive.ts";

type NightlyOptions = {
  settings: SelfBackupSettings;
  db: Database;
  connection: SideOptions["connection"];
  dataFolder: string;
  inventoryFile: string;
  version: string;
  servers: Pick<Servers, "open" | "login">;
  /** This machine. */
  host: Pick<Host, "run" | "account">;
  secrets: SecretReader;
  /** Where the markers of storage providers are. */
  marks: Pick<InventoryStore, "markedPathOf" | "setMarkedPath">;
  clock: Clock;
  log: Logger;
};

type Files = SelfBackupRecord["stored"];

/** The object on the timeline. */
const entry = {
  kind: "backup",
  object: { type: "installation", id: 1, name: "Quarterdeck" },
  server_id: null,
  actor: theSchedule,
} as const;

/** An event of the installation, which belongs to no server: for every channel that is notified about backups. */
const eventOf = (
  action: "finished" | "failed",
  words: string,
  { last_good_at: lastGood }: SelfBackupRecord,
): NewEvent => ({
  type: `backup.${action}`,
  server_id: null,
  site_id: null,
  database_id: null,
  data: {},
  notification: {
    subject: entry.object.name,
    facts: [["Backup of", "Quarterdeck itself: database, inventory and settings"]],
    moments: lastGood === null ? [] : [["Last good one", lastGood]],
    reason: words,
    path: "/settings",
  },
  activity: { kind: entry.kind, action, object: entry.object, actor: entry.actor },
});

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

export function createNightly(options: NightlyOptions) {
  const { settings, db, clock, log } = options;
  const { providerId, keep } = settings;
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<void> = Promise.resolve();

  /**
   * @param stored files, of which this storage may hold some
   * @throws StorageError, InventoryError, or other errors of opening it
   */
  async function openStorage(id: number, stored: Files) {
    const { inventoryFile: file } = options;
    const inventory = parseInventory(await readText(file), file);
    const provider = inventory.storage_providers.find((one) => one.id === id);
    if (provider === undefined) throw new StorageError(`${file} has no storage provider ${id}.`);
    const opened = await openOwn(provider, {
      ...options,
      ...options.marks,
      keys: stored.filter((one) => one.provider_id === id && !one.is_left).map(({ key }) => key),
      spoolFolder: join(options.dataFolder, "scratch"),
      inventory,
      signal,
    });
    return { ...opened, recipients: settings.recipients ?? recipientsIn(provider) };
  }

  /** @param note called with the file before its upload, once it is stored, and once it is known to be good */
  async function backUp(
    before: Files,
    note: (key: string, state: "begun" | "stored" | "good") => Promise<void>,
  ): Promise<string> {
    const { storage, mark, recipients } = await openStorage(providerId, before);
    // The drill decrypts with a key that only this process has, and that is never stored.
    const throwaway = recipients === null ? null : await createThrowawayKey();
    const { key, archive, warnings } = await storeArchive({
      from: { connection: options.connection, embeddedIn: null },
      storage,
      prefix: "",
      inventoryFile: options.inventoryFile,
      recipients: throwaway === null ? recipients : `${recipients} ${throwaway.recipient}`,
      withSecrets: settings.recipients !== null,
      now: new Date(clock.now()),
      version: options.version,
      signal,
      onKey: (key) => note(key, "begun"),
    });
    await note(key, "stored");
    await mark();
    for (const warning of warnings) log.warn({ key }, warning);
    await drill(storage, key, throwaway?.identity ?? null);
    await note(key, "good");
    const rows = archive.tables.reduce((sum, table) => sum + table.rows, 0);
    return `${key} in ${storage.place}, restored as a trial: ${countOf(rows, "row")}.`;
  }

  /**
   * Loads the stored file into a database of its own, which compares the number of rows of each table; then removes that
   * database.
   */
  async function drill(
    storage: Pick<ListedStorage, "get" | "size" | "place">,
    key: string,
    identities: string | null,
  ): Promise<void> {
    const folder = join(options.dataFolder, "self-drill");
    const { content } = await openStored({ storage, key, identities, signal });
    const postgres = await startEmbeddedPostgres({ folder, log: quiet });
    try {
      const side = await openSide({
        connection: postgres.connection,
        embeddedIn: folder,
        verb: "restore",
      });
      try {
        await loadArchive(content, side);
        await side.query("rollback");
      } finally {
        await side.close();
      }
    } finally {
      await postgres.stop();
      await removeEmbedded(folder);
    }
  }

  /**
   * Removes all but the newest good backups, and the newest other one after the first of them, which may tell why drills fail. A file that
   * could not be removed is tried again the next night.
   */
  async function prune(stored: Files): Promise<Files> {
    const oldest = stored.filter((one) => one.is_good).at(-keep);
    const since = stored.slice(oldest === undefined ? 0 : stored.indexOf(oldest));
    const newestBad = since.findLast((one) => !one.is_good && !one.is_left);
    const kept = since.filter((one) => one.is_good || one === newestBad);
    const left: Files = [];
    for (const one of stored.filter((one) => !kept.includes(one)))
      try {
        const { storage } = await openStorage(one.provider_id, stored);
        await storage.remove(`${one.key}.json`);
        await storage.remove(one.key);
      } catch (error) {
        signal.throwIfAborted();
        log.warn({ err: error, key: one.key }, "an old backup of Quarterdeck was not removed");
        left.push({ ...one, is_good: false, is_left: true });
      }
    return [...left, ...kept];
  }

  async function run(): Promise<void> {
    const nowMs = clock.now();
    const record = await claim(db, nowMs);
    if (record === null) return;
    const at = new Date(nowMs).toISOString();
    let stored = record.stored;
    try {
      const detail = await backUp(record.stored, async (key, state) => {
        const file = { provider_id: providerId, key, is_good: state === "good" };
        stored = [...record.stored, state === "begun" ? { ...file, is_left: true } : file];
        // Recorded first, so that retention knows the file even after a kill.
        await writeRecord(db, { ...record, begun_at: at, stored });
      });
      stored = await prune(stored);
      await db.transaction(async (tx) => {
        await writeRecord(tx, { begun_at: at, last_good_at: at, failure: null, stored });
        // Success is only reported after a failure.
        if (record.failure === null)
          await recordActivity(tx, { ...entry, action: "finished", outcome: "good", detail });
        else await recordEvent(tx, eventOf("finished", detail, record));
      });
      log.info({ detail }, "Quarterdeck was backed up, and its restore was tried");
    } catch (error) {
      if (signal.aborted) {
        // The service is stopping, and the next start repeats the backup. A stored file is removed by retention.
        await writeRecord(db, { ...record, stored }).catch(() => undefined);
        throw error;
      }
      const reason = expectedErrorMessage(error) ?? toError(error).message;
      log.error({ err: error }, "Quarterdeck could not be backed up");
      const failed = { ...record, begun_at: at, failure: { at, reason } };
      await db.transaction(async (tx) => {
        await writeRecord(tx, { ...failed, stored });
        await recordEvent(tx, eventOf("failed", reason, record));
      });
      // Reported first, because the storage may be what fails.
      await writeRecord(db, { ...failed, stored: await prune(stored) });
    }
  }

  return {
    /** Does nothing where another backup has begun recently. */
    run: () => (running = run()),
    /** Whether the last scheduled backup was missed, or there was none yet. */
    isDue: async () => isDue(await readRecord(db), clock.now()),
    /** For the overview. */
    async problem(): Promise<NonNullable<Overview["self_backup"]> | null> {
      const { state, failure, last_good_at: good } = judge(await readRecord(db), clock.now());
      if (state !== "failed" && state !== "overdue") return null;
      const at = failure?.at ?? good ?? "";
      return { state, reason: failure?.reason ?? null, at: toTimestamp(new Date(at)) };
    },
    async stop(): Promise<void> {
      stopping.abort(new Error("The service is stopping."));
      await running.catch(() => undefined);
    },
  };
}

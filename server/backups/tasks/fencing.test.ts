// Tests a runner that counted as dead and continues in the middle of a backup, when another one has claimed its job.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { finished as ended } from "node:stream/promises";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../../clock.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import { ClaimLost, type Claim } from "../../jobs/job-runner.ts";
import { createLog } from "../../log.ts";
import { createLocalStorage } from "../../storage/local.ts";
import { storedFilesIn } from "../../storage/testing/stored-files.ts";
import { sql } from "../../store/drizzle.ts";
import { createTestDatabase, type TestDatabase } from "../../testing/database.ts";
import { createBackupStore, type BackupRow, type BackupStore } from "../backup-store.ts";
import { createCountsStore } from "../counts-store.ts";
import { createConfigurationStore, type ConfigurationRow } from "../configuration-store.ts";
import { createBackupCounts } from "../metrics.ts";
import type { Resolver } from "../resolver.ts";
import type { Hooks, Source } from "../sources/source.ts";
import { createChainStore } from "../incremental/chain-store.ts";
import { createIncremental } from "../incremental/incremental.ts";
import { createLocalHost } from "../../hosts/local.ts";
import { createNoteDamage } from "../verification/note-damage.ts";
import { createTakeBackup, type TakeBackup } from "../run/take-backup.ts";
import { createTaskStore } from "./task-store.ts";
import { insertBackup, insertConfiguration, insertInventory } from "../testing/rows.ts";
import { Interrupted } from "../failure-message.ts";
import { startTestJobs } from "../../testing/jobs.ts";

const log = createLog("silent");

let database: TestDatabase;
let jobs: Jobs;
let folder: string;
let store: BackupStore;
let configuration: ConfigurationRow;
let backup: BackupRow;
let claim: Claim;
let takeBackup: TakeBackup;
/** Runs when all content has been written, before the dump of the source resolves. */
let meanwhile: () => Promise<void>;
let done = () => {};
let hooks: Hooks | undefined;

beforeEach(async () => {
  hooks = undefined;
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "quarterdeck-fencing-"));
  await insertInventory(database.db);
  jobs = await startTestJobs(database, log);
  store = createBackupStore(database.db);
  configuration = await insertConfiguration(database.db);
  backup = await insertBackup(database.db, configuration);
  const tasks = createTaskStore(database.db, jobs.backupTasks);
  const source = {
    extension: "dump",
    rehearse: async () => "It answers.",
    async dump(into) {
      into.end("content");
      await ended(into, { readable: false });
      await meanwhile();
      return { kind: "database", tables: {} };
    },
  } satisfies Partial<Source>;
  const configurations = createConfigurationStore(database.db);
  const chainStore = createChainStore(database.db);
  const recovery = { request: () => undefined };
  takeBackup = createTakeBackup({
    store,
    configurations,
    chainStore,
    incremental: createIncremental({
      store,
      chainStore,
      configurations,
      tasks,
      resolver: { drillIdentity: async () => null },
      note: createNoteDamage({ store, chainStore }),
      recovery,
      host: createLocalHost({}),
      scratch: { own: folder },
      clock: systemClock,
    }),
    countsStore: createCountsStore(database.db),
    tasks,
    resolver: {
      source: async () => {
        const made: Partial<Source> = { ...source, ...(hooks !== undefined && { hooks }) };
        // The object has all members that a backup uses.
        return made as Source;
      },
      hooks: async () => hooks ?? null,
      storage: async () => createLocalStorage({ path: folder }),
      describe: async () => ({
        type: "database",
        engine: "postgres",
        id: 1,
        name: "shop",
        server: { id: 1, name: "here" },
        tools: {},
      }),
      encryption: async () => null,
      drillIdentity: async () => null,
      markStorage: async () => undefined,
    } satisfies Omit<Resolver, "drill" | "destination">,
    jobs,
    copyQueue: { hold: async () => null },
    counts: createBackupCounts(new Registry()),
    clock: systemClock,
    log,
    recovery,
    version: "0.0.0",
  });
  await database.db.transaction((tx) =>
    tasks.insert(tx, [{ server_id: 1, backup_id: backup.id, kind: "run" }]),
  );
  claim = await new Promise((resolve) => {
    jobs.backupTasks.work(async (claimed) => {
      resolve(claimed);
      await new Promise<void>((end) => (done = end));
    });
  });
});
afterEach(async () => {
  done();
  await jobs.backupTasks.stop();
  await jobs.stop(0);
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

/** Claims the same job again, which increments its attempt. */
const claimAnew = () =>
  database.db.execute(
    sql`update pgboss.job set retry_count = retry_count + 1 where id = ${claim.id}::uuid`,
  );

const take = () =>
  takeBackup.take(backup, configuration, new AbortController().signal, {
    claim,
    async also(tx) {
      if (!(await jobs.backupTasks.complete(tx, claim))) throw new ClaimLost();
    },
  });
const files = () => storedFilesIn(folder);
const events = async () =>
  (await database.db.execute<{ type: string }>(sql`select type from events order by id`)).rows.map(
    ({ type }) => type,
  );

test("the runner that holds the job finishes the backup, under a name that contains its attempt", async () => {
  meanwhile = async () => undefined;
  const finished = await take();
  expect(finished?.status).toBe("finished");
  expect(finished?.path).toMatch(/Z-0\.dump\.zst$/);
  expect(await files()).toEqual([finished?.path]);
});

test("a runner whose job was settled meanwhile changes nothing, and leaves no file behind", async () => {
  meanwhile = async () => {
    await claimAnew();
    const row = await store.byId(backup.id);
    if (row === null) return expect.unreachable();
    await takeBackup.interrupt(
      row,
      configuration,
      new Interrupted("It was cut off."),
      async () => undefined,
    );
  };
  expect(await take()).toBeNull();
  expect(await store.byId(backup.id)).toMatchObject({
    status: "failed",
    status_reason: "It was cut off.",
    path: "",
  });
  expect(await events()).toEqual(["backup.failed"]);
  expect(await files()).toEqual([]);
});

test("the hook after the backup runs for an interrupted one, and never determines its outcome", async () => {
  const after = vi.fn<() => Promise<string | null>>(async () => "It failed.");
  hooks = { before: async () => undefined, after };
  const cutOff = new Interrupted("It was cut off.");
  const settle = (row: BackupRow) =>
    takeBackup.interrupt(row, configuration, cutOff, async () => undefined);
  const running = await store.transaction((tx) => store.move(tx, backup, "running"));
  if (running === null) return expect.unreachable();
  await settle(running);
  expect(after).toHaveBeenCalledOnce();
  expect(await store.byId(backup.id)).toMatchObject({
    status: "failed",
    status_reason: "It was cut off.",
    output: expect.stringContaining("It failed."),
  });
  // A backup that has not started has run no hook.
  const waiting = await insertBackup(database.db, configuration);
  await settle(waiting);
  expect(after).toHaveBeenCalledOnce();
});

test("a runner whose job was claimed again stores no outcome; its file is left to the new runner", async () => {
  meanwhile = async () => void (await claimAnew());
  await expect(take()).rejects.toBeInstanceOf(ClaimLost);
  const row = await store.byId(backup.id);
  expect(row?.status).toBe("running");
  expect(row?.path).toContain(await files().then(([name]) => name));
  expect(await events()).toEqual([]);
});

test("a runner whose job was claimed again before it started writes nothing", async () => {
  meanwhile = vi.fn<() => Promise<void>>(async () => undefined);
  await claimAnew();
  await expect(take()).rejects.toBeInstanceOf(ClaimLost);
  expect(meanwhile).not.toHaveBeenCalled();
  expect((await store.byId(backup.id))?.status).toBe("pending");
  expect(await files()).toEqual([]);
});

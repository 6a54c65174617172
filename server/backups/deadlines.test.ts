// Nothing carries the jobs out here: what is left are the deadlines.
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../clock.ts";
import { createLocalHost } from "../hosts/local.ts";
import { createSecretReader } from "../inventory/secrets.ts";
import { createInventoryStore } from "../inventory/store.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { createLog } from "../log.ts";
import { sql } from "../store/drizzle.ts";
import { activity } from "../store/tables.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { createBackupStore } from "./backup-store.ts";
import { createConfigurationService } from "./configuration-service.ts";
import { createConfigurationStore } from "./configuration-store.ts";
import { createResolver } from "./resolve-source.ts";
import { createTaskStore } from "./task-store.ts";
import { insertConfiguration, insertInventory } from "./testing/rows.ts";
import { startTestJobs } from "../testing/jobs.ts";

let database: TestDatabase;
let engine: Jobs;
beforeAll(async () => {
  database = await createTestDatabase();
  await insertInventory(database.db);
  engine = await startTestJobs(database);
});
afterAll(async () => {
  await engine.stop(0);
  await database.close();
});

const jobs: Pick<Jobs, "send"> = { send: async () => undefined };

function createService() {
  const { db } = database;
  const inventory = createInventoryStore(db);
  const host = createLocalHost({});
  return createConfigurationService({
    store: createBackupStore(db),
    configurations: createConfigurationStore(db),
    tasks: createTaskStore(db, engine.backupTasks),
    inventory,
    resolver: createResolver({
      inventory,
      store: createBackupStore(db),
      host,
      secrets: createSecretReader({}),
      scratch: { own: "/nowhere", folderOf: async () => "/nowhere", clear: async () => undefined },
    }),
    jobs,
    clock: systemClock,
    log: createLog("silent"),
  });
}

const words = "Timed out: still installing after 150 s.";

test("a configuration that is never tried fails at its deadline, is reported, and keeps its schedule", async () => {
  const service = createService();
  const { id, transition } = await insertConfiguration(database.db);
  await service.expire({ id, transition: transition + 1 });
  expect((await service.byId(id))?.status).toBe("installing");
  await service.expire({ id, transition });
  const failed = await service.byId(id);
  expect(failed).toMatchObject({ status: "failed", status_reason: words });
  expect(failed?.next_run_at?.getTime()).toBeGreaterThan(Date.now());
  expect(await database.db.select().from(activity)).toMatchObject([
    { action: "install failed", outcome: "bad", object_id: id, detail: words },
  ]);
});

test("a configuration fails at its deadline when the outcome of its rehearsal cannot be stored, whatever the cause", async () => {
  const service = createService();
  const { id, transition } = await insertConfiguration(database.db);
  await database.db.execute(
    sql`alter table backup_configurations add constraint refused check (status = 'installing' or coalesce(status_reason, '') like 'Timed out: still installing%') not valid`,
  );
  await expect(service.install({ id, transition })).rejects.toThrow(/Failed query/);
  expect((await service.byId(id))?.status).toBe("installing");
  await service.expire({ id, transition });
  expect(await service.byId(id)).toMatchObject({ status: "failed", status_reason: words });
});

// Tests deadlines: no runner performs the jobs here.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLocalHost } from "../hosts/local.ts";
import { createSecretReader } from "../inventory/secrets.ts";
import { createInventoryStore } from "../inventory/store.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { createLog } from "../log.ts";
import { sql } from "../store/drizzle.ts";
import { activity } from "../store/tables/activity.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { createBackupStore } from "./backup-store.ts";
import { createConfigurationStore } from "./configuration-store.ts";
import { createConfigurationTransitions } from "./configuration-transitions.ts";
import { createResolver } from "./resolver.ts";
import { insertConfiguration, insertInventory } from "./testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await insertInventory(database.db);
});
afterAll(async () => {
  await database.close();
});

const jobs: Pick<Jobs, "send"> = { send: async () => undefined };

function createTransitions() {
  const { db } = database;
  const configurations = createConfigurationStore(db);
  const inventory = createInventoryStore(db);
  const host = createLocalHost({});
  const transitions = createConfigurationTransitions({
    store: createBackupStore(db),
    configurations,
    inventory,
    recovery: { request: () => undefined },
    resolver: createResolver({
      inventory,
      store: createBackupStore(db),
      host,
      servers: { open: async () => host, login: () => expect.unreachable() },
      secrets: createSecretReader({}, "/nowhere"),
      scratch: { own: "/nowhere", folderOf: async () => "/nowhere", clear: async () => undefined },
      installation: "i1",
    }),
    jobs,
    log: createLog("silent"),
  });
  return { configurations, transitions };
}

const words = "Timed out: still installing after 150 s.";

test("a configuration that is never rehearsed fails at its deadline, is reported, and keeps its schedule", async () => {
  const { configurations, transitions } = createTransitions();
  const { id, transition } = await insertConfiguration(database.db);
  await transitions.expire({ id, transition: transition + 1 });
  expect((await configurations.byId(id))?.status).toBe("installing");
  await transitions.expire({ id, transition });
  const failed = await configurations.byId(id);
  expect(failed).toMatchObject({ status: "failed", status_reason: words });
  expect(failed?.next_run_at?.getTime()).toBeGreaterThan(Date.now());
  expect(await database.db.select().from(activity)).toMatchObject([
    { action: "install failed", outcome: "bad", object_id: id, detail: words },
  ]);
});

test("a configuration fails at its deadline when the outcome of its rehearsal cannot be stored, whatever the cause", async () => {
  const { configurations, transitions } = createTransitions();
  const { id, transition } = await insertConfiguration(database.db);
  await database.db.execute(
    sql`alter table backup_configurations add constraint refused check (status = 'installing' or coalesce(status_reason, '') like 'Timed out: still installing%') not valid`,
  );
  await expect(transitions.install({ id, transition })).rejects.toThrow(/Failed query/);
  expect((await configurations.byId(id))?.status).toBe("installing");
  await transitions.expire({ id, transition });
  expect(await configurations.byId(id)).toMatchObject({
    status: "failed",
    status_reason: words,
  });
});

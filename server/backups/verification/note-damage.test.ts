import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { events } from "../../store/tables/events.ts";
import { createTestDatabase, type TestDatabase } from "../../testing/database.ts";
import { createBackupStore } from "../backup-store.ts";
import { DamagedBase } from "../incremental/chain.ts";
import { createChainStore } from "../incremental/chain-store.ts";
import { createConfigurationStore } from "../configuration-store.ts";
import { createEndRun } from "../run/end-run.ts";
import { createBackupCounts } from "../metrics.ts";
import { createNoteDamage } from "./note-damage.ts";
import { DamagedBackup } from "../pipeline/read-verified.ts";
import { insertBackup, insertConfiguration, insertInventory } from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await insertInventory(database.db);
});
afterAll(() => database.close());

test("a run whose full is found damaged while it waits for its copy ends damaged, until the full verifies again", async () => {
  const { db } = database;
  const [store, chainStore] = [createBackupStore(db), createChainStore(db)];
  const configurations = createConfigurationStore(db);
  const { endRun } = createEndRun({
    store,
    chainStore,
    configurations,
    counts: createBackupCounts(new Registry()),
  });
  const note = createNoteDamage({ store, chainStore });
  const configuration = await insertConfiguration(db);
  const [full, waiting] = [
    await insertBackup(db, configuration),
    await insertBackup(db, configuration),
  ];
  const run = await db.transaction(async (tx) => {
    await store.move(tx, full, "finished");
    return store.move(tx, waiting, "running", { base_id: full.id, ended_at: new Date() });
  });
  if (run === null) throw new Error("Nobody else moves it.");

  await db.transaction((tx) =>
    note.damaged(tx, configuration, full, new DamagedBackup("It is missing."), new Date()),
  );
  const ended = await db.transaction((tx) => endRun(tx, configuration, run, {}));
  expect(ended).toMatchObject({
    status: "finished",
    damage: `Backup ${full.id}, which it needs, is damaged: It is missing.`,
  });
  await db.transaction((tx) => note.sound(tx, full, new Date()));
  expect(await store.byId(run.id)).toMatchObject({ damage: null });
});

test("names the configuration of a damaged full that another configuration has adopted", async () => {
  const { db } = database;
  const note = createNoteDamage({ store: createBackupStore(db), chainStore: createChainStore(db) });
  const [adopted, needing] = [await insertConfiguration(db), await insertConfiguration(db)];
  const [full, patch] = [await insertBackup(db, adopted), await insertBackup(db, needing)];
  await db.transaction((tx) =>
    note.damaged(tx, needing, patch, new DamagedBase(full, "It is missing."), new Date()),
  );
  const told = (await db.select().from(events)).map(({ data }) => data);
  expect(told.filter((data) => data["backup_id"] === full.id)).toEqual([
    expect.objectContaining({ configuration_id: adopted.id, reason: "It is missing." }),
  ]);
});

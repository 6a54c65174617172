import { expect, onTestFinished, test } from "vitest";
import { createTestDatabase } from "../../testing/database.ts";
import { createAdoptionStore } from "./adoption-store.ts";
import { createBackupStore } from "../backup-store.ts";
import { insertBackup, insertConfiguration, insertInventory } from "../testing/rows.ts";

test("links a backup to its full, which cannot be deleted meanwhile, and not to one that is being deleted", async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const { db } = database;
  await insertInventory(db);
  const configuration = await insertConfiguration(db);
  const store = createBackupStore(db);
  const [full, patch] = [
    await insertBackup(db, configuration),
    await insertBackup(db, configuration),
  ];
  const finished = await db.transaction(async (tx) => {
    await store.move(tx, patch, "finished", { path: "a/2.patch.zst" });
    return store.move(tx, full, "finished", { path: "a/1.zst" });
  });
  if (finished === null) throw new Error("Nobody else moves it.");
  const link = () =>
    db.transaction((tx) =>
      createAdoptionStore(db).link(tx, { configurationId: configuration.id, providerId: 1 }, [
        { path: "a/2.patch.zst", base: "a/1.zst" },
      ]),
    );
  // A deletion comes first, and commits while the link waits for its lock.
  const { $client: pool } = db;
  const deleting = await pool.connect();
  await deleting.query("begin");
  await deleting.query("update backups set status = 'deleting' where id = $1", [full.id]);
  const linked = link();
  await Promise.race([linked, waitsForLock()]);
  await deleting.query("commit");
  deleting.release();
  expect(await linked).toBe(false);

  await pool.query("update backups set status = 'finished' where id = $1", [full.id]);
  expect(await link()).toBe(true);
  expect(await store.byId(patch.id)).toMatchObject({ base_id: full.id });
  expect(await db.transaction((tx) => store.move(tx, finished, "deleting"))).toBe(null);

  /** Waits until a session waits for a lock of this database. */
  async function waitsForLock(): Promise<void> {
    for (;;) {
      const { rows } = await pool.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      if (rows.length > 0) return;
    }
  }
});

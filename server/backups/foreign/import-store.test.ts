import { expect, onTestFinished, test } from "vitest";
import { createLog } from "../../log.ts";
import { createTestDatabase } from "../../testing/database.ts";
import { startTestJobs } from "../../testing/jobs.ts";
import { createBackupStore, type BackupChange } from "../backup-store.ts";
import { insertBackup, insertConfiguration, insertInventory } from "../testing/rows.ts";
import { createImportStore } from "./import-store.ts";

test("an import that waits for its copy does not count as an abandoned upload", async () => {
  const database = await createTestDatabase();
  const jobs = await startTestJobs(database, createLog("silent"));
  onTestFinished(async () => {
    await jobs.stop(0);
    await database.close();
  });
  const { db } = database;
  await insertInventory(db);
  const configuration = await insertConfiguration(db);
  const store = createBackupStore(db);
  const running = async (change: BackupChange) => {
    const { id, transition } = await insertBackup(db, configuration);
    await db.transaction((tx) =>
      store.move(tx, { id, transition }, "running", { trigger: "import", ...change }),
    );
    return id;
  };
  const left = await running({});
  await running({ ended_at: new Date() });
  const found = await createImportStore(db).withoutTask([]);
  expect(found.map(({ backup }) => backup.id)).toEqual([left]);
});

import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createLog } from "../log.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { createLane, longestTaskMs, type LaneOptions } from "./lane.ts";
import { createTaskStore } from "./task-store.ts";
import { insertBackup, insertConfiguration, insertInventory } from "./testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await insertInventory(database.db);
});
afterAll(() => database.close());

/** A lane with one task that waits, and what it settles. */
async function createTestLane(perform: LaneOptions["perform"]) {
  const { db } = database;
  const tasks = createTaskStore(db);
  const backup = await insertBackup(db, await insertConfiguration(db));
  const row = await db.transaction((tx) =>
    tasks.insert(tx, { server_id: 1, backup_id: backup.id, kind: "run" }),
  );
  const clock = createFakeClock();
  const settled: string[] = [];
  const lane = createLane({
    tasks,
    perform,
    async settle(task, reason) {
      await db.transaction((tx) => tasks.end(tx, task.id));
      settled.push(reason.message);
    },
    clock,
    log: createLog("silent"),
  });
  return { lane, clock, settled, row, tasks };
}

test("a job that ignores its deadline is given up an hour later, and the server's other jobs go on", async () => {
  const performed: number[] = [];
  let signal: AbortSignal | undefined;
  const { lane, clock, settled, row, tasks } = await createTestLane(async (task, given) => {
    performed.push(task.id);
    if (task.id !== row.id)
      return void (await database.db.transaction((tx) => tasks.end(tx, task.id)));
    signal = given;
    await new Promise(() => undefined);
  });
  const next = await database.db.transaction((tx) =>
    tasks.insert(tx, { server_id: 1, backup_id: row.backup_id, kind: "verify" }),
  );
  lane.wake(1);
  await vi.waitFor(() => expect(performed).toEqual([row.id]));
  clock.advance(longestTaskMs);
  expect(signal?.aborted).toBe(true);
  expect(settled).toEqual([]);
  clock.advance(3600_000);
  await vi.waitFor(() => {
    // It waits a moment before it settles; nobody knows when that wait begins.
    clock.advance(5000);
    expect(settled).toEqual(["Timed out after 24 hours."]);
  });
  await vi.waitFor(() => expect(performed).toEqual([row.id, next.id]));
  await lane.stop();
});

test("a job whose outcome could not be stored is settled as that, not as cut off with the service", async () => {
  const { lane, clock, settled } = await createTestLane(() =>
    Promise.reject(new Error("The outcome could not be stored.")),
  );
  lane.wake(1);
  await vi.waitFor(() => {
    clock.advance(5000);
    expect(settled).toEqual(["Couldn't store the result. See the service's log for the reason."]);
  });
  await lane.stop();
});

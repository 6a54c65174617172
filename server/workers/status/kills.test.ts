import { afterAll, beforeAll, expect, test } from "vitest";
import { createInventoryStore } from "../../inventory/store.ts";
import { activity } from "../../store/tables/activity.ts";
import { storeInventory } from "../../testing/store-inventory.ts";
import { createTestDatabase, type TestDatabase } from "../../testing/database.ts";
import { workerBody } from "../../testing/worker-body.ts";
import { withWorkerDefaults } from "../../../contract/workers/bodies.ts";
import { createKillNotes } from "./kills.ts";
import { soleLeases } from "../../instances/leases.ts";
import { createWorkerStore } from "../store.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

test("reports a kill once, however many calls record its worker at that moment", async () => {
  await storeInventory(
    database.db,
    "servers: [{ id: 1, name: here, connection: local }]\nsites: [{ id: 1, server: 1, name: shop, root: /tmp }]",
  );
  const inventory = createInventoryStore(database.db);
  const store = createWorkerStore(database.db, soleLeases);
  const row = await store.transaction((tx) =>
    store.insert(tx, { ...withWorkerDefaults(workerBody), directory: null, site_id: 1 }),
  );
  const kills = createKillNotes(store, inventory);
  const reason = "Killed: still running 1 second after SIGTERM.";
  kills.add(row.id, { number: 1, reason });
  await Promise.all(Array.from({ length: 4 }, () => kills.record(row.id)));
  expect(await database.db.select({ detail: activity.detail }).from(activity)).toEqual([
    { detail: "Process 1: Killed: still running 1 second after SIGTERM." },
  ]);

  // A kill of the same stop, after the first one was stored: the reason is the same as if both had been recorded together.
  kills.add(row.id, { number: 2, reason });
  await kills.record(row.id);
  expect((await store.byId(row.id))?.kill_reason).toBe(`Processes 1 and 2: ${reason}`);
});

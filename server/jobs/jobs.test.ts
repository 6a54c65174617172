import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createLog } from "../log.ts";
import { sql } from "../store/drizzle.ts";
import { settings } from "../store/tables.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import type { Handlers, Jobs } from "./jobs.ts";
import { startTestJobs } from "../testing/jobs.ts";
import { soon } from "../testing/soon.ts";

const secret = "whsec_planted-in-a-job";
const lines: string[] = [];
const done: number[] = [];

let database: TestDatabase;
let jobs: Jobs;

/** What a job does here is told by its id. */
async function expire({ id }: { id: number }): Promise<void> {
  const value = `${secret}\0\ud800`;
  // The second time the key is taken, so the query fails with all its values on the error.
  if (id === 1)
    for (let count = 0; count < 2; count++)
      await database.db.insert(settings).values({ key: secret, value });
  if (id === 2) throw new Error("NUL \0 and a half \ud800");
  done.push(id);
}

beforeAll(async () => {
  database = await createTestDatabase();
  jobs = await startTestJobs(
    database,
    createLog("trace", { write: (line) => void lines.push(line) }),
  );
  const nothing = async () => undefined;
  // Every queue has the same handler; the test sends to one of them.
  const handlers = new Proxy({} as Handlers, {
    get: (_, name) => (name === "backup.deadline" ? expire : nothing),
  });
  await database.db.transaction(async (tx) => {
    for (const id of [1, 2, 3]) await jobs.send(tx, "backup.deadline", { id, transition: 1 });
  });
  await jobs.work(handlers, []);
});
afterAll(async () => {
  await jobs.stop(1000);
  await database.close();
});

const stored = async () => {
  const { rows } = await database.db.execute<{ id: number; state: string; output: unknown }>(sql`
    select (data->>'id')::int as id, state::text as state, output
    from pgboss.job where name = 'backup.deadline' order by 1`);
  return rows;
};

test("a job that fails is tried again with its reason stored, and those taken with it end well", async () => {
  const rows = await soon(async () => {
    const found = await stored();
    expect(found.map(({ state }) => state)).toEqual(["retry", "retry", "completed"]);
    return found;
  });
  expect(done).toContain(3);
  expect(JSON.stringify(rows[0]?.output)).toContain("duplicate key value");
  expect(JSON.stringify(rows[1]?.output)).toContain("NUL \ufffd and a half \ufffd");
});

test("no value of a query is in the log, or stored with the job that failed", async () => {
  await vi.waitFor(() => expect(lines.join("")).toContain("settings_pkey"), { timeout: 60_000 });
  expect(lines.join("")).not.toContain(secret);
  expect(JSON.stringify(await stored())).not.toContain(secret);
});

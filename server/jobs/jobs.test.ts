import { afterAll, beforeAll, expect, test } from "vitest";
import { createLog } from "../log.ts";
import { migrationLock } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import { settings } from "../store/tables/installation.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import type { Handlers, Jobs } from "./jobs.ts";
import { startTestJobs } from "../testing/jobs.ts";
import { soon } from "../testing/soon.ts";
import { withClient } from "../testing/with-client.ts";

const secret = "whsec_planted-in-a-job";
const lines: string[] = [];
const done: number[] = [];

let database: TestDatabase;
let jobs: Jobs;

/** Handler of all jobs in this test, which fails in a way that depends on the id. */
async function expire({ id }: { id: number }): Promise<void> {
  const value = `${secret}\0\ud800`;
  // The second insert violates the key, so the error carries all values of the query.
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
  // All queues have the same handler; the test uses one of them.
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

test("a failed job is retried with its reason stored, and jobs fetched together with it succeed", async () => {
  const rows = await soon(async () => {
    const found = await stored();
    expect(found.map(({ state }) => state)).toEqual(["retry", "retry", "completed"]);
    return found;
  });
  expect(done).toContain(3);
  expect(JSON.stringify(rows[0]?.output)).toContain("duplicate key value");
  expect(JSON.stringify(rows[1]?.output)).toContain("NUL \ufffd and a half \ufffd");
});

test("no value of a query is in the log, or stored with a failed job", async () => {
  await soon(() => expect(lines.join("")).toContain("settings_pkey"));
  expect(lines.join("")).not.toContain(secret);
  expect(JSON.stringify(await stored())).not.toContain(secret);
});

test("a job of a server that a killed service had is assigned again, however long it may take", async () => {
  const data = { id: 1, transition: 1, server_id: 1 };
  const queued = "name = 'backup-configuration.removing' and state = 'active'";
  const fresh = await createTestDatabase();
  const instances = [await startTestJobs(fresh), await startTestJobs(fresh)];
  const begun: number[] = [];
  const handlersOf = (instance: number) =>
    // All queues have a handler; the test uses one of them.
    new Proxy({} as Handlers, {
      get: (_, name) => async () => {
        if (name !== "backup-configuration.removing") return;
        begun.push(instance);
        // The first instance never ends it.
        if (instance === 0) await new Promise(() => undefined);
      },
    });
  try {
    await instances[0]?.work(handlersOf(0), []);
    await fresh.db.transaction(async (tx) =>
      instances[0]?.send(tx, "backup-configuration.removing", data),
    );
    await soon(() => expect(begun).toEqual([0]));
    await instances.shift()?.stop(0);
    await fresh.db.execute(
      sql.raw(`update pgboss.job set heartbeat_on = now() - interval '1 minute' where ${queued}`),
    );
    await instances[0]?.work(handlersOf(1), []);
    await soon(() => expect(begun).toEqual([0, 1]));
  } finally {
    for (const one of instances) await one.stop(0);
    await fresh.close();
  }
});

/** The lock of pg-boss for installing its tables. */
const installLock = `('x' || encode(sha224((current_database() || '.pgboss.pgboss')::bytea), 'hex'))::bit(64)::bigint`;

test("instances that start together on a new database all start", async () => {
  const fresh = await createTestDatabase();
  try {
    await fresh.db.execute(sql`drop schema pgboss cascade`);
    const starting = await withClient(fresh.connection, async (holder) => {
      await holder.query(`begin; select pg_advisory_xact_lock(${installLock})`);
      const asked = [1, 2, 3].map(() => startTestJobs(fresh));
      for (const one of asked) one.catch(() => undefined);
      // Without the lock, an instance that checks while another one installs would install as well, and fail.
      await soon(async () => {
        const { rows } = await database.db.execute(
          sql`select objid = ${migrationLock} as is_ours from pg_locks join pg_database on oid = database
            where datname = ${fresh.connection.database} and locktype = 'advisory' and not granted order by 1`,
        );
        expect(rows).toEqual([{ is_ours: false }, { is_ours: true }, { is_ours: true }]);
      });
      await holder.query("commit");
      return asked;
    });
    for (const one of await Promise.all(starting)) await one.stop(0);
    const { rows } = await fresh.db.execute(sql`select version from pgboss.version`);
    expect(rows).toHaveLength(1);
  } finally {
    await fresh.close();
  }
});

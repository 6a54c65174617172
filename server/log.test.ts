// Plants a secret in queries that fail, and checks that no log line contains it, on whatever property of the error it is.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createLog } from "./log.ts";
import { messageOf } from "./loggable-error.ts";
import { openDatabase } from "./store/database.ts";
import { eq, sql } from "./store/drizzle.ts";
import { activity } from "./store/tables/activity.ts";
import { backups } from "./store/tables/backups.ts";
import { events } from "./store/tables/events.ts";
import { settings } from "./store/tables/installation.ts";
import { webhooks } from "./store/tables/webhooks.ts";
import { createTestDatabase, type TestDatabase } from "./testing/database.ts";
import { soon } from "./testing/soon.ts";

const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZg";

type Line = {
  msg: string;
  err: { type: string; message: string; stack: string; cause?: Record<string, unknown> };
};
let lines: string[] = [];
const log = createLog("trace", { write: (line) => void lines.push(line) });
beforeEach(() => {
  lines = [];
});
const lastLine = (): Line => JSON.parse(lines.at(-1) ?? "{}");

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.db.execute(sql`
    create table narrow (short varchar(3), text text, number int check (number > 0))`);
  await database.db.execute(sql`
    create function refuse(value text) returns void language plpgsql as
    $$ begin raise exception 'no: %', value using detail = value, hint = value; end $$`);
});
afterAll(() => database.close());

const failureOf = async (work: () => PromiseLike<unknown>): Promise<unknown> => {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error("It did not fail.");
};

/** @returns the parsed log line of the error */
function logged(error: unknown): Line {
  log.error({ err: error }, "it failed");
  log.error(error);
  log.error({ err: error });
  expect(lines).toHaveLength(3);
  expect(lines.join("")).not.toContain(secret);
  expect(messageOf(error)).not.toContain(secret);
  return JSON.parse(lines[0] ?? "");
}

const object = { object_type: "x", object_id: 1, object_name: secret };
const entry = { kind: "token", action: secret, actor_type: "service", actor_name: secret } as const;
const event = { type: "site.deployed", server_id: 1, message_id: secret } as const;
const notification = { subject: secret, facts: [], moments: [], reason: null, path: "/" };

describe("a failing query is logged without its values:", () => {
  test("a unique violation, with the constraint and the table", async () => {
    const { db } = database;
    await db.insert(settings).values({ key: secret, value: secret });
    const error = await failureOf(() => db.insert(settings).values({ key: secret, value: secret }));
    const { err } = logged(error);
    expect(err.type).toBe("DrizzleQueryError");
    expect(err.message).toMatch(/^Failed query: insert into "settings"/);
    expect(err.stack).toMatch(/\n {4}at /);
    expect(err.cause).toMatchObject({
      code: "23505",
      table: "settings",
      constraint: "settings_pkey",
      severity: "ERROR",
      message: 'duplicate key value violates unique constraint "settings_pkey"',
    });
    expect(messageOf(error)).toBe('duplicate key value violates unique constraint "settings_pkey"');
  });

  test.each<[string, string, (db: TestDatabase["db"]) => PromiseLike<unknown>]>([
    [
      "a missing reference",
      "23503",
      (db) => db.insert(webhooks).values({ site_id: 999, url: secret, secret }),
    ],
    [
      "a missing value",
      "23502",
      (db) => db.insert(activity).values({ ...entry, ...object, object_id: sql`null` }),
    ],
    [
      "a row that violates a check",
      "23514",
      (db) => db.execute(sql`insert into narrow (text, number) values (${secret}, 0)`),
    ],
    [
      "a text that is too long",
      "22001",
      (db) => db.execute(sql`insert into narrow (short) values (${secret})`),
    ],
    ["a text that is not a number", "22P02", (db) => db.execute(sql`select ${secret}::int`)],
    [
      "a text that is not an id",
      "22P02",
      (db) =>
        db
          .select()
          .from(backups)
          // Bypasses the types, as a bug might.
          .where(eq(backups.id, secret as unknown as number)),
    ],
    ["a text that is not a date", "22007", (db) => db.execute(sql`select ${secret}::timestamptz`)],
    [
      "a text that is not JSON",
      "22P02",
      (db) => db.execute(sql`select ${`{"a": ${secret}}`}::jsonb`),
    ],
    [
      "JSON that is not a list",
      "22023",
      (db) =>
        db.execute(sql`select * from jsonb_to_recordset(${`"${secret}"`}::jsonb) as x(a int)`),
    ],
    [
      "JSON of an event without a required number",
      "22P02",
      async (db) => {
        await db.insert(events).values({ ...event, data: { secret }, notification });
        await db.execute(sql`select (data->>'secret')::int from events`);
      },
    ],
    [
      "an exception of a database function",
      "P0001",
      (db) => db.execute(sql`select refuse(${secret})`),
    ],
  ])("%s", async (_kind, code, work) => {
    const { err } = logged(await failureOf(() => work(database.db)));
    expect(err.cause).toMatchObject({ code });
  });

  test("a broken connection, and a closed database", async () => {
    const other = await openDatabase(database.connection, () => undefined);
    const failing = failureOf(() => other.db.execute(sql`select pg_sleep(60), ${secret}::text`));
    const endSleeper = sql`
      select pg_terminate_backend(pid) as ended from pg_stat_activity
      where query like '%pg_sleep(60)%' and state = 'active' and pid <> pg_backend_pid()`;
    await soon(async () => {
      expect((await database.db.execute(endSleeper)).rows).toEqual([{ ended: true }]);
    });
    expect(logged(await failing).err.cause).toMatchObject({ code: "57P01" });
    await other.close();
    lines = [];
    logged(await failureOf(() => other.db.insert(settings).values({ key: secret, value: secret })));
  });

  test("on a connection without Drizzle", async () => {
    const client = new pg.Client(database.connection);
    await client.connect();
    const { err } = logged(
      await failureOf(() => client.query("insert into settings values ($1, $1)", [secret])),
    );
    expect(err).toMatchObject({ type: "DatabaseError", code: "23505", table: "settings" });
    await client.end();
  });
});

describe("an error is logged", () => {
  test("with all its causes, and once if they are circular", () => {
    const first = Object.assign(new Error("first"), { code: "ENOENT", path: "/a", secret });
    const all = new AggregateError([first, "a text"], "all", { cause: first });
    first.cause = all;
    const { err } = logged(new Error("outer", { cause: all }));
    expect(err).toMatchObject({
      type: "Error",
      message: "outer",
      cause: {
        type: "AggregateError",
        message: "all",
        cause: { message: "first", code: "ENOENT", path: "/a", cause: "[the same]" },
        errors: [{ message: "first" }, "a text"],
      },
    });
  });

  test("without its other properties: a request, a response, the values of a query", () => {
    const hanging = { config: { secret }, params: [secret], detail: secret, where: secret };
    const error = Object.assign(new Error("it"), hanging, { internalQuery: secret });
    expect(Object.keys(logged(error).err).sort()).toEqual(["message", "stack", "type"]);
  });

  test("without a message that looks like a part of its stack", () => {
    const { err } = logged(
      Object.assign(
        new Error(),
        { query: "select 1", params: [] },
        stackWith(`\n    at ${secret}`),
      ),
    );
    expect(err.message).toBe("Failed query: select 1");
    expect(err.stack).toMatch(/^Error: Failed query: select 1\n {4}at .*log\.test/);
  });

  test("whatever value was thrown", () => {
    for (const thrown of ["a text", 7, null, undefined]) {
      log.error({ err: thrown }, "it failed");
      expect(lastLine().msg).toBe("it failed");
      expect(messageOf(thrown)).toBe(String(thrown));
    }
  });
});

/** Returns the message and stack of an error with this message. */
function stackWith(message: string) {
  const { stack } = new Error(message);
  return { message, stack };
}

test("no part of the service creates its own logger", () => {
  const server = fileURLToPath(new URL(".", import.meta.url));
  const makers = readdirSync(server, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .filter((name) => /import \{[^}]*\bpino\b/.test(readFileSync(join(server, name), "utf8")));
  expect(makers).toEqual(["log.ts"]);
});

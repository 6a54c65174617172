// Tests missing privileges, and effects of other sessions and of the server's settings on a dump or restore.
import { execFile } from "node:child_process";
import { randomInt, randomUUID } from "node:crypto";
import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../../testing/postgres-server.ts";
import { dropDatabase } from "./databases.ts";
import { drillDatabaseOf } from "./drill.ts";
import { soon } from "../../../testing/soon.ts";
import { sendSignal } from "../../../testing/signals.ts";
import { fingerprint, makeSource, never, untilRestoring } from "./testing/fixtures.ts";
import { SourceError } from "../source.ts";
import { casesOf, inLongForm } from "../../../testing/long-form.ts";

const run = promisify(execFile);

/** Catches the error at once, because the test awaits it later. */
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "It did not fail.",
    (error: unknown) => error,
  );

/** Prints the process of a program that runs for a task, such as `restore 7` of an installation. */
const findTool = `for one in $(grep -lzFs "PGAPPNAME=quarterdeck $1" /proc/[0-9]*/environ); do
  read -r name <"\${one%environ}comm" && [ "$name" = "$2" ] && basename "$(dirname "$one")"; done; true`;

const killed =
  "was killed, probably because the machine ran out of memory. Free some memory there, then try again.";

const reader = { user: "reader", password: "rea" };

describe.skipIf(!hasPostgresServer)("a PostgreSQL database", () => {
  let server: PostgresServer;
  let databases = 0;

  beforeAll(async () => {
    server = await startPostgresServer();
    await server.query("postgres", "create role reader login password 'rea' createdb");
  });
  afterAll(() => server.stop());

  const makeDatabase = async (sql: string) => {
    const name = `faults_${(databases += 1)}`;
    await server.createDatabase(name);
    await server.query(name, sql);
    return name;
  };

  /** Opens a session that holds a lock until it is released. */
  const hold = async (database: string, statement: string) => {
    const client = new pg.Client(server.url(database));
    client.on("error", () => undefined);
    await client.connect();
    await client.query(`begin; ${statement}`);
    return () => client.end();
  };

  /** Terminates a session of Quarterdeck as soon as its activity matches, like a failing network. */
  const cut = async (activity: string) => {
    for (let tries = 0; tries < 400; tries += 1) {
      const ended = await server.query(
        "postgres",
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'quarterdeck%' and ${activity}`,
      );
      if (ended.length > 0) return;
      await sleep(10);
    }
    throw new Error("There was nothing to cut.");
  };

  test("that the account may not read in full is reported by the rehearsal, with the fix", async ({
    skip,
  }) => {
    skip(server.major < 14, "There is no role pg_read_all_data.");
    const database = await makeDatabase(`
      create schema app; create table app.closed (id int); create table public.open (id serial);
      create table public.hidden (id int); alter table public.hidden enable row level security;
      grant select on public.open, public.hidden to reader; grant select on sequence public.open_id_seq to reader`);
    const { source } = makeSource(server.url(database, reader));
    await expect(source.rehearse(never)).rejects.toThrow(
      'the account reader may not read app.closed. Allow it with: GRANT pg_read_all_data TO "reader";',
    );
    await server.query(database, "grant pg_read_all_data to reader");
    await expect(source.rehearse(never)).rejects.toThrow(
      'hides rows of public.hidden from the account reader. Allow it with: ALTER ROLE "reader" BYPASSRLS;',
    );
    await server.query(database, "alter role reader bypassrls; select lo_create(99)");
    await expect(source.rehearse(never)).rejects.toThrow(/may not read all large objects/);
    await server.query(database, "grant select on large object 99 to reader");
    expect(await source.rehearse(never)).toMatch(/^PostgreSQL \d/);
    // The dump confirms the rehearsal.
    const { manifest } = await makeSource(server.url(database, reader)).dump();
    expect(manifest.tables).toMatchObject({ "app.closed": 0, "large objects": 1 });
    await server.query(
      database,
      "revoke pg_read_all_data from reader; alter role reader nobypassrls",
    );
  });

  test("whose rows are hidden by a policy is not dumped without them", async () => {
    const database = await makeDatabase(`
      create table hidden as select 1; alter table hidden enable row level security;
      grant select on hidden to reader; create policy none on hidden using (false)`);
    await expect(makeSource(server.url(database, reader)).dump()).rejects.toThrow(SourceError);
  });

  test("that another session locks is not waited for forever", async () => {
    const database = await makeDatabase("create table held as select 1 as one");
    const { source, attempt, dump } = makeSource(server.url(database), { lockWaitMs: 200 });
    const { archive } = await dump();
    await server.query(database, "create table later ()");
    const before = await fingerprint(server, database);
    const letGo = await hold(database, "select from held");
    await expect(source.restore(Readable.from([archive]), attempt())).rejects.toThrow(
      "shop is unchanged: another session held one of its tables for more than 0.2 seconds.",
    );
    await letGo();
    expect(await fingerprint(server, database)).toEqual(before);
    await source.restore(Readable.from([archive]), attempt());
    expect(await server.query(database, "select to_regclass('later') as later")).toEqual([
      { later: null },
    ]);
  });

  test("with objects of a role that the account may not assume, or that is missing, says so", async () => {
    const database = await makeDatabase(`
      alter database faults_${databases + 1} owner to reader;
      create table mine (); alter table mine owner to reader;
      create role leaver; create table theirs (); alter table theirs owner to leaver; grant select on theirs to reader`);
    const asReader = makeSource(server.url(database, reader));
    const { archive } = await asReader.dump();
    const restore = ({ source, attempt }: typeof asReader) =>
      source.restore(Readable.from([archive]), attempt());
    await expect(restore(asReader)).rejects.toThrow(
      /^shop is unchanged: something belongs to another role/,
    );
    await server.query(database, "drop owned by leaver; drop role leaver");
    await expect(restore(makeSource(server.url(database)))).rejects.toThrow(
      /^shop is unchanged: the backup names a role that this server does not have/,
    );
    expect(await server.query(database, "select from mine")).toEqual([]);
  });

  test("with short time limits of its own is dumped and restored nevertheless", async () => {
    const database = await makeDatabase("create table held as select 1 as one");
    await server.query(
      "postgres",
      `alter database ${database} set statement_timeout = 300; alter database ${database} set idle_in_transaction_session_timeout = 300`,
    );
    const { source, attempt, dump } = makeSource(server.url(database));
    const work = async <Result>(statement: string, run: () => Promise<Result>) => {
      const letGo = await hold(
        database,
        `set local idle_in_transaction_session_timeout = 0; ${statement}`,
      );
      const [result] = await Promise.all([run(), sleep(900).then(letGo)]);
      return result;
    };
    const { archive, manifest } = await work("lock table held", dump);
    expect(manifest.tables).toEqual({ "public.held": 1 });
    await work("select from held", () => source.restore(Readable.from([archive]), attempt()));
  });

  const pieceBytes = 4096;

  test("whose connection is cut in the middle fails with a message, and stays unchanged", async () => {
    const database = await makeDatabase(
      "create table big as select n, repeat(md5(n::text), 30) as filler from generate_series(1, 20000) n",
    );
    const { source, attempt, dump } = makeSource(server.url(database));
    const { archive } = await dump();
    const into = new PassThrough().on("error", () => undefined);
    const dumping = failureOf(source.dump(into, attempt()));
    await once(into, "readable");
    await cut("query ~* '^copy'");
    into.resume();
    expect(await dumping).toBeInstanceOf(SourceError);
    expect(into.destroyed).toBe(true);

    await server.query(database, "create table later ()");
    const before = await fingerprint(server, database);
    // The input never ends: psql notices a closed connection only when it sends more.
    async function* slow() {
      const half = Math.floor(archive.length / 2);
      yield archive.subarray(0, half);
      for (let at = half; at < archive.length - pieceBytes; at += pieceBytes) {
        yield archive.subarray(at, at + pieceBytes);
        await sleep(100);
      }
    }
    const restoring = failureOf(source.restore(Readable.from(slow()), attempt()));
    await cut("query ~* '^copy'");
    expect(await restoring).toMatchObject({
      name: "SourceError",
      message: expect.stringMatching(/^shop is unchanged: /),
    });
    expect(await fingerprint(server, database)).toEqual(before);
  });

  const tools = {
    pg_restore: `The backup could not be read: pg_restore says: it ${killed}`,
    psql: `shop is unchanged: psql ${killed}`,
  };
  test.each(casesOf(tools, ["psql"]))(
    "is unchanged where %s is killed, which is named as the cause",
    async (program, message) => {
      const database = await makeDatabase(
        "create table big as select n, repeat(md5(n::text), 30) as filler from generate_series(1, 20000) n",
      );
      const installation = randomUUID();
      const { source, attempt, dump } = makeSource(server.url(database), { installation });
      const { archive } = await dump();
      await server.query(database, "create table later ()");
      const before = await fingerprint(server, database);
      const input = new PassThrough();
      const half = Math.floor(archive.length / 2);
      input.write(archive.subarray(0, half));
      const restoring = failureOf(source.restore(input, attempt()));
      await untilRestoring(server);
      const { stdout: pid } = await run("sh", [
        "-c",
        findTool,
        "sh",
        `restore 7 ${installation}`,
        program,
      ]);
      sendSignal(Number(pid), "SIGKILL");
      input.end(archive.subarray(half));
      expect(await restoring).toMatchObject({ name: "SourceError", message });
      expect(await fingerprint(server, database)).toEqual(before);
    },
  );

  test.each(["pg_dump", "zstd"])("says so where %s is killed during a dump", async (program) => {
    const database = await makeDatabase(
      "create table big as select n, md5((n * 2)::text) || md5((n * 2 + 1)::text) as filler from generate_series(1, 200000) n; create sequence held",
    );
    const { source, attempt } = makeSource(server.url(database));
    const compressed = await source.compressed?.(never);
    const id = randomInt(1e9);
    const into = new PassThrough().on("error", () => undefined);
    // zstd holds back so much that pg_dump could end before it is found. Only pg_dump reads the sequence.
    const letGo = await hold(database, "drop sequence held");
    const dumping = failureOf(compressed?.dump(into, attempt(never, id)) ?? Promise.resolve());
    await soon(async () => {
      const { stdout: pid } = await run("sh", ["-c", findTool, "sh", `backup ${id}`, program]);
      sendSignal(Number(pid), "SIGKILL");
    });
    await letGo();
    into.resume();
    expect(await dumping).toMatchObject({
      name: "SourceError",
      message: `shop: ${program} failed: it ${killed}`,
    });
  });

  test("whose rows raise warnings is restored from no damaged backup, which is named as the cause", async () => {
    const database = await makeDatabase(`
      create function told(int) returns bool language plpgsql as $$ begin raise warning 'odd: %', $1; return true; end $$;
      create table odd (n int check (told(n))); insert into odd select generate_series(1, 5000)`);
    const { source, attempt, dump } = makeSource(server.url(database));
    const { archive } = await dump();
    const cut = archive.subarray(0, Math.floor(archive.length * 0.95));
    await expect(source.restore(Readable.from([cut]), attempt())).rejects.toThrow(
      "The backup could not be read: pg_restore says: could not read from input file: end of file",
    );
  });

  test("is unchanged where pg_restore runs out of memory, which is named as the cause", async () => {
    const database = await makeDatabase("create table words as select 'of a row' as word");
    const { source, attempt, dump } = makeSource(server.url(database));
    const { archive } = await dump();
    // The sign of the row's length.
    archive[archive.indexOf("of a row\n") - 5] = 1;
    await expect(source.restore(Readable.from([archive]), attempt())).rejects.toThrow(
      "The backup could not be read: pg_restore says: out of memory",
    );
  });

  inLongForm(() => {
    test("that is dropped although a session in it does not end at once is dropped afterwards", async () => {
      const database = await makeDatabase("select");
      const session = new pg.Client(server.url(database));
      session.on("error", () => undefined);
      await session.connect();
      const { rows } = await session.query<{ pid: number }>("select pg_backend_pid() as pid");
      const pid = rows[0]?.pid;
      sendSignal(pid, "SIGSTOP");
      const client = new pg.Client(server.url("postgres"));
      await client.connect();
      const dropped = failureOf(dropDatabase(client, database));
      // The server waits for the session for some seconds, and then refuses.
      const refused = `select from pg_stat_activity where query like 'drop database%' and state = 'idle'`;
      await expect.poll(() => server.query("postgres", refused)).toHaveLength(1);
      sendSignal(pid, "SIGCONT");
      expect(await dropped).toBe("It did not fail.");
      const left = `select from pg_database where datname = '${database}'`;
      expect(await server.query("postgres", left)).toEqual([]);
      await client.end();
    });

    test("that a drill made is dropped although a session in it does not end for half a minute", async () => {
      const database = await makeDatabase("create table one (id int); insert into one values (1)");
      const { source, said, attempt } = makeSource(server.url(database));
      const into = new PassThrough();
      const [content, manifest] = await Promise.all([buffer(into), source.dump(into, attempt())]);
      const scratch = drillDatabaseOf({}, attempt().id);
      const drilled = source.drill(Readable.from([content]), manifest, attempt());
      const session = await soon(async () => {
        const client = new pg.Client(server.url(scratch));
        client.on("error", () => undefined);
        await client.connect();
        return client;
      });
      const { rows } = await session.query<{ pid: number }>("select pg_backend_pid() as pid");
      sendSignal(rows[0]?.pid, "SIGSTOP");
      const tries = new Set<string>();
      await soon(async () => {
        const found = await server.query<{ at: string }>(
          "postgres",
          "select query_start::text as at from pg_stat_activity where query like 'drop database%'",
        );
        for (const { at } of found) tries.add(at);
        // The server refuses each after five seconds.
        expect(tries.size).toBeGreaterThan(7);
      });
      sendSignal(rows[0]?.pid, "SIGCONT");
      expect(await drilled).toContain("1 table with 1 row restored");
      expect(said.join()).not.toContain("could not be dropped");
      const left = `select from pg_database where datname = '${scratch}'`;
      expect(await server.query("postgres", left)).toEqual([]);
    });
  });
});

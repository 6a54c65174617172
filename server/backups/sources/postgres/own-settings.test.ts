// Tests databases with settings that a dump does not expect, and functions that need these settings.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inLongForm, casesOf } from "../../../testing/long-form.ts";
import { createCollector } from "../../testing/collector.ts";
import {
  hasPostgresServer,
  postgresTools,
  startPostgresServer,
  type PostgresServer,
} from "../../testing/postgres-server.ts";
import { expectNothingLeft, fingerprint, makeSource } from "./testing/fixtures.ts";

const run = promisify(execFile);
const exactly = / restored exactly, by the count and the checksum of each table\.$/;

/** Objects that functions call without a schema, in `public` or elsewhere in the database's search path. */
const bareNames = `
create table known (name text); insert into known values ('Ada');
create function plain(text) returns text language sql immutable as 'select lower($1)';
create function wrapped(text) returns text language sql immutable as 'select plain($1)';
create function is_plain(text) returns boolean language plpgsql immutable as $$ begin return plain($1) <> ''; end $$;
create function many() returns bigint language sql stable as 'select count(*) from known';
create table people (name text check (is_plain(name)), key text generated always as (wrapped(name)) stored);
create index on people (wrapped(name));
create statistics by_key on wrapped(name), name from people;
create materialized view counted as select many();
insert into people values ('Ada'), ('Grace')`;

describe.skipIf(!hasPostgresServer)("a PostgreSQL database", () => {
  let server: PostgresServer;
  let databases = 0;

  beforeAll(async () => {
    server = await startPostgresServer();
  });
  afterAll(() => server?.stop());

  const make = async (sql: string) => {
    const name = `own_${(databases += 1)}`;
    await server.createDatabase(name);
    await server.query(name, sql);
    return name;
  };

  const paths = {
    "the usual search path": "",
    "a search path of its own": "create schema app; set search_path = app;",
  };
  // The import below uses the usual search path.
  test.each(casesOf(paths, ["a search path of its own"]))(
    "with functions that call others without a schema, by %s, is restored completely and in single tables",
    async (_, before) => {
      const name = await make(`${before}${bareNames}`);
      if (before !== "") await server.query(name, `alter database ${name} set search_path = app`);
      const schema = before === "" ? "public" : "app";
      const whole = await fingerprint(server, name);
      const { source, attempt, dump } = makeSource(server.url(name));
      const { archive, manifest } = await dump();
      expect(await source.drill(Readable.from([archive]), manifest, attempt())).toMatch(exactly);

      await server.query(name, `delete from ${schema}.people`);
      const table = makeSource(server.url(name), { tables: [`${schema}.people`] });
      await table.source.restore(Readable.from([archive]), attempt(), manifest);
      expect(await fingerprint(server, name)).toEqual(whole);

      await server.query(name, `drop table ${schema}.people`);
      await source.restore(Readable.from([archive]), attempt(), manifest);
      expect(await fingerprint(server, name)).toEqual(whole);

      await server.query("postgres", `drop database ${name} with (force)`);
      await source.restore(Readable.from([archive]), attempt(), manifest);
      expect(await fingerprint(server, name)).toEqual(whole);
      await expectNothingLeft(server);
    },
  );

  inLongForm(() => {
    test("with such functions is imported from a dump in plain SQL", async () => {
      const name = await make(bareNames);
      const whole = await fingerprint(server, name);
      const { stdout } = await run(join(postgresTools, "pg_dump"), [
        `--dbname=${server.url(name)}`,
      ]);
      const { source, attempt } = makeSource(server.url(name));
      const content = Readable.from([Buffer.from(stdout)]);
      const intake = source.intake?.({ kind: "postgres-sql", words: "SQL of pg_dump", content });
      await intake?.prepare?.(attempt());
      const { into, content: stored } = createCollector();
      await intake?.dump(into, attempt());
      await intake?.discard?.(attempt());
      await source.restore(Readable.from([stored()]), attempt());
      expect(await fingerprint(server, name)).toEqual(whole);
      await expectNothingLeft(server);
    });
  });

  const violated = {
    "foreign key": {
      sql: "create table a (id int primary key); create table b (n int references a); insert into a values (1); alter table b disable trigger all; insert into b values (1), (7)",
      steps: [{ options: [], ignored: 1, after: undefined }],
    },
    check: {
      sql: "create function most() returns int language sql as 'select 10'; create table b (n int constraint low check (n < most())); insert into b values (1), (7); create or replace function most() returns int language sql as 'select 5'",
      steps: [
        { options: ["--section=pre-data"], ignored: 0, after: "alter table b drop constraint low" },
        { options: ["--section=data"], ignored: 0, after: undefined },
        { options: ["--section=post-data"], ignored: 0, after: undefined },
      ],
    },
  };
  test.each(casesOf(violated, ["foreign key"]))(
    "whose rows violate a %s gets steps for a manual restore",
    async (rule, { sql, steps }) => {
      const name = await make(sql);
      const { source, attempt, dump } = makeSource(server.url(name));
      const { archive, manifest } = await dump();
      const words = new RegExp(`violates ${rule} constraint .*restore by hand: pg_restore `);
      await expect(source.drill(Readable.from([archive]), manifest, attempt())).rejects.toThrow(
        words,
      );
      await expect(source.restore(Readable.from([archive]), attempt())).rejects.toThrow(words);
      const byHand = `${name}_by_hand`;
      await server.createDatabase(byHand);
      for (const step of steps) {
        const restoring = run(join(postgresTools, "pg_restore"), [
          "--no-owner",
          ...step.options,
          `--dbname=${server.url(byHand)}`,
        ]);
        // For a part it need not read to the end.
        restoring.child.stdin?.on("error", () => undefined);
        restoring.child.stdin?.end(archive);
        const { stderr } = await restoring.catch((failure: { stderr: string }) => failure);
        expect(/errors ignored on restore: (\d+)/.exec(stderr)?.[1] ?? "0").toBe(`${step.ignored}`);
        if (step.after !== undefined) await server.query(byHand, step.after);
      }
      expect(await server.query(byHand, "select * from b order by 1")).toEqual([
        { n: 1 },
        { n: 7 },
      ]);
    },
  );

  test("that is read-only by default passes its drill and is restored", async () => {
    const name = await make("create table kept (id int); insert into kept values (1)");
    await server.query(name, `alter database ${name} set default_transaction_read_only = on`);
    const whole = await fingerprint(server, name);
    const { source, attempt, dump } = makeSource(server.url(name));
    const { archive, manifest } = await dump();
    expect(await source.drill(Readable.from([archive]), manifest, attempt())).toMatch(exactly);
    await server.query(name, "begin read write; delete from kept; commit");
    await source.restore(Readable.from([archive]), attempt(), manifest);
    expect(await fingerprint(server, name)).toEqual(whole);
    // Nothing has to be settled, which is not a failure.
    expect(await source.settle(attempt())).toBe("unknown");
    await expectNothingLeft(server);
  });

  test("that reads arrays and texts in an older format gets the same values back", async () => {
    const name = await make(
      `create table lists (words text[]); insert into lists values ('{NULL,"NULL",x}'); create table spare (a int)`,
    );
    await server.query(
      name,
      `alter database ${name} set array_nulls = off; alter database ${name} set standard_conforming_strings = off`,
    );
    const nulls = () =>
      server.query(name, "select words[1] is null as first, words[2] is null as second from lists");
    const before = await nulls();
    expect(before).toEqual([{ first: true, second: false }]);
    const { source, said, attempt, dump } = makeSource(server.url(name));
    const { archive, manifest } = await dump();
    await source.restore(Readable.from([archive]), attempt(), manifest);
    expect(await nulls()).toEqual(before);
    const table = makeSource(server.url(name), { tables: ["public.lists"] });
    await table.source.restore(Readable.from([archive]), attempt(), manifest);
    expect(await nulls()).toEqual(before);
    expect([...said, ...table.said]).toEqual([]);
  });

  test("created by a restore is not taken for an incomplete restore, however the account's settings read texts", async () => {
    const name = await make("create table kept (id int)");
    const { archive, manifest } = await makeSource(server.url(name)).dump();
    await server.query("postgres", "alter role postgres set standard_conforming_strings = off");
    try {
      const made = makeSource(server.url(`${name}_new`), { isNew: true });
      await made.source.restore(Readable.from([archive]), made.attempt(), manifest);
      // Otherwise the cleanup after a crash would take it for an incomplete restore, and drop it.
      expect(await made.source.settle(made.attempt())).toBe("unknown");
      expect(await server.query(`${name}_new`, "select * from kept")).toEqual([]);
    } finally {
      await server.query("postgres", "alter role postgres reset all");
    }
  });
});

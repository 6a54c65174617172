import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isLongForm } from "../../../testing/long-form.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../../testing/postgres-server.ts";
import { makeSource, never } from "./testing/fixtures.ts";

describe.skipIf(!hasPostgresServer)("a PostgreSQL account that is not a superuser", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgresServer();
    await server.query(
      "postgres",
      "create role owner login password 'own' createdb; create role reader login password 'rea'",
    );
    if (server.major >= 14) await server.query("postgres", "grant pg_read_all_data to reader");
  });
  afterAll(() => server.stop());

  const makeDatabase = async (name: string, sql: string) => {
    await server.createDatabase(name, "owner");
    await server.query(name, sql);
    const account = (user: string) =>
      makeSource(server.url(name, { user, password: user.slice(0, 3) }));
    return { account };
  };

  test("which may read but not restore is reported at once, and may after following the message", async ({
    skip,
  }) => {
    skip(server.major < 14, "There is no role pg_read_all_data.");
    const { account } = await makeDatabase(
      "shop",
      "create schema app authorization owner; set role owner; create table app.t as select 1 as a; create function app.f() returns int language sql as 'select 1'",
    );
    const { source, attempt, dump } = account("reader");
    const { archive, manifest } = await dump();
    const output = await source.rehearse(never);
    expect(output).toContain(
      "A restore would be refused: something in the database belongs to owner, and reader is not a member of that role.",
    );
    expect(output).toContain("A drill would be refused: reader may not create databases.");
    await expect(source.restore(Readable.from([archive]), attempt())).rejects.toThrow(
      "is unchanged",
    );
    for (const [, cures = ""] of output.matchAll(/Allow it with: ((?:(?:GRANT|ALTER) [^;]*; ?)+)/g))
      await server.query("shop", cures);
    expect(await source.rehearse(never)).not.toContain("refused");
    await source.restore(Readable.from([archive]), attempt());
    expect(await source.drill(Readable.from([archive]), manifest, attempt())).toContain("exactly");
  });

  const ofOthers = {
    "select lo_create(4242); grant select on large object 4242 to owner": "select lo_unlink(4242)",
    "create collation public.plain (locale = 'C')": "drop collation public.plain",
    "create text search configuration public.words (copy = simple)":
      "drop text search configuration public.words",
    "create statistics public.both_of on a, b from public.t": "drop statistics public.both_of",
    "create publication news for table public.t": "drop publication news",
    "create foreign data wrapper far": "drop foreign data wrapper far",
  };
  test("gets a report of objects of other owners, of whatever kind", async () => {
    const { account } = await makeDatabase(
      "others",
      "create table public.t (a int, b int); alter table public.t owner to owner",
    );
    const { source, attempt, dump } = account("owner");
    const refusal = "A restore would be refused";
    expect(await source.rehearse(never)).not.toContain(refusal);
    for (const [index, [made, dropped]] of Object.entries(ofOthers).entries()) {
      await server.query("others", made);
      expect(await source.rehearse(never), made).toContain(
        `${refusal}: something in the database belongs to postgres, and owner is not a member of that role.`,
      );
      // `npm run soak -- sources` tests each on the server, which has its own message for each.
      if (isLongForm || index === 0) {
        const { archive } = await dump();
        await expect(source.restore(Readable.from([archive]), attempt()), made).rejects.toThrow(
          "is unchanged",
        );
      }
      await server.query("others", dropped);
    }
  });

  test("restores a database whose schema public belongs to a superuser, with a report of what stays", async () => {
    // The state of all databases of PostgreSQL 13 and 14, and of those upgraded from them.
    const { account } = await makeDatabase(
      "older",
      `alter schema public owner to postgres; grant create on schema public to public; comment on schema public is 'ours';
       create table t as select 1 as a; alter table t owner to owner`,
    );
    const { source, attempt, dump, said } = account("owner");
    const { archive, manifest } = await dump();
    await server.query("older", "set role owner; create table later (); update t set a = 2");
    const restore = () => source.restore(Readable.from([archive]), attempt());
    await restore();
    const tables = "select tablename from pg_tables where schemaname = 'public'";
    expect(await server.query("older", tables)).toEqual([{ tablename: "t" }]);
    expect(await server.query("older", "select a from t")).toEqual([{ a: 1 }]);
    const warning =
      "Warning: left as they are, because the account may not change them: the owner and privileges of the schema public.";
    // No warning before PostgreSQL 15, where this is the default.
    const expected = server.major < 15 ? [] : [warning];
    expect(said).toEqual(expected);
    // Since PostgreSQL 15, `public` of the scratch database belongs to the account, which cannot change its owner.
    expect(await source.drill(Readable.from([archive]), manifest, attempt())).toContain("exactly");
    expect(said).toEqual([...expected, ...expected]);

    await server.query("older", "create table theirs ()");
    await expect(restore()).rejects.toThrow(
      /^shop is unchanged: something belongs to another role, .* \(must be owner of table theirs\)$/,
    );
  });

  test("restores over no enabled subscription, which is reported, and none of the backup", async () => {
    const { account } = await makeDatabase(
      "subscriber",
      `create table t as select 1 as a; alter table t owner to owner;
       create subscription "the news" connection 'host=127.0.0.1 port=1' publication p with (connect = false)`,
    );
    const { source, attempt, said } = account("owner");
    const { archive } = await makeSource(server.url("subscriber")).dump();
    await server.query("subscriber", 'update t set a = 2; alter subscription "the news" enable');
    const why =
      'the database receives rows by the subscription the news, which the restore would end. Disable it first: ALTER SUBSCRIPTION "the news" DISABLE; After the restore: ALTER SUBSCRIPTION "the news" ENABLE; ALTER SUBSCRIPTION "the news" REFRESH PUBLICATION WITH (copy_data = false);';
    expect(await source.rehearse(never)).toContain(`A restore would be refused: ${why}`);
    const restore = () => source.restore(Readable.from([archive]), attempt());
    for (const refused of [() => source.refuseRestore?.(attempt(), null), restore])
      await expect(refused()).rejects.toThrow(`Nothing was changed: ${why}`);
    await server.query("subscriber", 'alter subscription "the news" disable');
    await restore();
    expect(await server.query("subscriber", "select a from t")).toEqual([{ a: 1 }]);
    expect(said).toEqual([
      "Left out, because it would begin to replicate: the subscription the news.",
    ]);
  });

  test("verifies a backup without the extensions that nothing needs, and names them", async () => {
    const { account } = await makeDatabase(
      "loose",
      "create extension pageinspect; create extension citext; create table t (a citext); insert into t values ('A')",
    );
    await server.query("loose", "alter table t owner to owner");
    const { source, attempt, dump, said } = account("owner");
    expect(await source.rehearse(never)).toMatch(
      /\. A drill leaves out what only a superuser may create and nothing else needs: the extension pageinspect\.$/,
    );
    const { archive, manifest } = await dump();
    expect(await source.drill(Readable.from([archive]), manifest, attempt())).toContain("exactly");
    expect(said).toEqual([
      "Warning: left out, because only a superuser may create it: the extension pageinspect.",
    ]);
  });

  test("restores and verifies a backup without what it has of the objects of such an extension", async () => {
    const { account } = await makeDatabase(
      "members",
      // Like PostGIS with spatial_ref_sys.
      `create extension pageinspect; create table conf_ref as select 1 as n; create sequence conf_seq; create schema conf; grant select on conf_ref, conf_seq to owner;
       alter extension pageinspect add table conf_ref; alter extension pageinspect add sequence conf_seq; alter extension pageinspect add schema conf;
       update pg_extension set extconfig = array['conf_ref'::regclass::oid, 'conf_seq'::regclass::oid], extcondition = array['where n > 1', ''] where extname = 'pageinspect';
       set role owner; create extension citext; create table t as select 1 as a`,
    );
    const { source, attempt, dump, said } = account("owner");
    const leaves = "A restore leaves out what is part of an extension that owner may not change:";
    expect(await source.rehearse(never)).toContain(`${leaves} state of public.conf_seq.`);
    await server.query(
      "members",
      "insert into conf_ref values (2); grant execute on function get_raw_page(text, int8), citext_eq to reader; grant usage on schema conf to reader",
    );
    expect(await source.rehearse(never)).toContain(
      `${leaves} rows of public.conf_ref, state of public.conf_seq, privileges of citext_eq(citext,citext), privileges of get_raw_page(text,bigint).`,
    );
    const { archive, manifest } = await dump();
    await server.query("members", "insert into conf_ref values (3); update t set a = 2");
    await source.restore(Readable.from([archive]), attempt());
    expect(
      await server.query(
        "members",
        "select (select count(*)::int from conf_ref) as kept, a from t",
      ),
    ).toEqual([{ kept: 3, a: 1 }]);
    const left = [
      "Warning: left out, because they are part of an extension that the account may not change: privileges of conf, privileges of public.citext_eq(public.citext, public.citext), privileges of public.get_raw_page(text, bigint), rows of public.conf_ref, state of public.conf_seq.",
    ];
    expect(said).toEqual(left);
    const drill = () => source.drill(Readable.from([archive]), manifest, attempt());
    expect(await drill()).toContain("exactly");
    expect(said.slice(1)).toEqual([expect.stringContaining("the extension pageinspect"), ...left]);
  });

  test("gets a report of a needed extension that prevents a drill, and takes it from a template", async () => {
    const { account } = await makeDatabase(
      "needed",
      "create extension bloom; create table t (a int); insert into t values (1); alter table t owner to owner; create index on t using bloom (a)",
    );
    const { source, attempt, dump, said } = account("owner");
    const { archive, manifest } = await dump();
    const cure =
      'Let a superuser make a template for drills that has it: CREATE DATABASE quarterdeck_template TEMPLATE template0; \\connect quarterdeck_template CREATE EXTENSION "bloom"; ALTER DATABASE quarterdeck_template IS_TEMPLATE true;';
    expect(await source.rehearse(never)).toContain(
      `A drill would be refused: only a superuser may create the extension bloom, which other objects need. ${cure}`,
    );
    const drill = () => source.drill(Readable.from([archive]), manifest, attempt());
    const refused = await drill().catch((error: Error) => error.message);
    expect(refused).toMatch(/^The backup cannot be restored: .*"bloom" does not exist/s);
    expect(refused).toContain(`The extension bloom was left out, because only a superuser`);
    expect(refused).toContain(cure);
    await server.query("postgres", "create database quarterdeck_template template template0");
    await server.query("quarterdeck_template", "create extension bloom");
    await server.query("postgres", "alter database quarterdeck_template is_template true");
    said.length = 0;
    expect(await source.rehearse(never)).not.toContain("refused");
    expect(await drill()).toContain("exactly");
    expect(said).toEqual([]);
  });
});

import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Host } from "../../../hosts/host.ts";
import { createLocalHost } from "../../../hosts/local.ts";
import { createRemoteServer } from "../../../ssh/testing/remote-server.ts";
import { isLongForm } from "../../../testing/long-form.ts";
import { makeFolder } from "../../../testing/machine.ts";
import { createCollector } from "../../testing/collector.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../../testing/postgres-server.ts";
import { createPostgresSource } from "../postgres/source.ts";
import {
  environment,
  everything,
  expectNothingLeft,
  fingerprint,
  never,
} from "../postgres/testing/fixtures.ts";
import type { Attempt, Manifest } from "../source.ts";
import { fileOf, tablesIn } from "../whole-server/names.ts";
import { createDatabasePart } from "../whole-server/part.ts";
import { readFiles } from "../whole-server/tar.ts";
import { statementsForMissing } from "./roles.ts";
import { createPostgresServerSource } from "./source.ts";

const shop = 'shop.it\'s "ü" $1';
const full = "100 %/x";
const databases = [full, "postgres", shop];

const remote = createRemoteServer();

describe.skipIf(!hasPostgresServer)("all databases of a PostgreSQL server", () => {
  let server: PostgresServer;
  let folder: string;
  const here = createLocalHost(environment);

  const sourceOn = (host: Host, url = server.url("postgres"), installation?: string) =>
    createPostgresServerSource({
      host,
      name: "db-1",
      url,
      installation,
      spoolFolder: host.isRemote ? "/var/tmp" : folder,
    });
  const attemptOf = (signal: AbortSignal = never) => {
    const said: string[] = [];
    const attempt: Attempt = { id: 7, say: (line) => void said.push(line), signal };
    return { said, attempt };
  };
  const dump = async (source = sourceOn(here)) => {
    const { into, content } = createCollector();
    const { said, attempt } = attemptOf();
    await source.rehearse(never);
    const manifest = await source.dump(into, attempt);
    return { manifest, archive: content(), said };
  };
  let emptied: ReturnType<typeof dump> | null = null;
  /** The remaining tests need less content. */
  const dumpWithoutFull = () =>
    (emptied ??= (async () => {
      await server.query("postgres", `drop database "100 %/x"`);
      await server.createDatabase(full);
      return dump();
    })());
  const from = (archive: Buffer) => Readable.from([archive], { objectMode: false });
  const roles = () =>
    server.query(
      "postgres",
      `select rolname, rolsuper, rolcanlogin, rolconnlimit, rolpassword, rolconfig, shobj_description(a.oid, 'pg_authid') as note,
        array(select roleid::regrole::text || admin_option from pg_auth_members where member = a.oid order by 1) as member
       from pg_authid a left join pg_db_role_setting on setrole = a.oid and setdatabase = 0
         cross join lateral (select setconfig as rolconfig) as set where rolname !~ '^pg_' order by 1`,
    );
  const properties = () =>
    server.query(
      "postgres",
      `select datname, pg_get_userbyid(datdba) as owner, datacl::text, datconnlimit, datcollate, setconfig, shobj_description(d.oid, 'pg_database') as note
       from pg_database d left join pg_db_role_setting on setdatabase = d.oid and setrole = 0 where not datistemplate order by 1`,
    );
  const everyDatabase = async () => {
    const content: Record<string, unknown> = {};
    for (const name of databases) content[name] = await fingerprint(server, name);
    return { content, properties: await properties(), roles: await roles() };
  };
  /** Runs statements one by one, because some cannot be part of a transaction. */
  const each = async (database: string, ...statements: string[]) => {
    for (const statement of statements) await server.query(database, statement);
  };
  const dropApp = async () => {
    await each(shop, `reassign owned by app to postgres; drop owned by app, "odd ""role""; 'x'"`);
    for (const name of ["postgres", full]) await each(name, "drop owned by app");
    await each("postgres", `drop role app, "odd ""role""; 'x'"`);
  };
  const notes = (database: string) =>
    server.query(database, "select note from notes order by note");

  beforeAll(async () => {
    folder = await makeFolder(afterAll);
    server = await startPostgresServer();
    await server.query(
      "postgres",
      `create role app login password 'secret''s' connection limit 7; create role "odd ""role""; 'x'" nologin;
       comment on role app is 'of the shop; all of it'; alter role app set work_mem = '8MB'; grant "odd ""role""; 'x'" to app with admin option;
       create role reader login password 'rea' createdb`,
    );
    if (server.major >= 15)
      await server.query("postgres", "grant set on parameter log_min_messages to app");
    await server.createDatabase(shop, "app");
    await server.createDatabase(full);
    await server.query(
      "postgres",
      `alter database "100 %/x" set work_mem = '5MB'; alter database "100 %/x" connection limit 9; grant temporary on database "100 %/x" to app;
       comment on database "100 %/x" is 'full'`,
    );
    await server.query(full, everything);
    await server.query(
      shop,
      `create extension citext; set role app; create schema s; create table s.notes (note citext); insert into s.notes values ('one'), ('two');
       create table notes as select 'kept' as note; grant select on notes to "odd ""role""; 'x'"`,
    );
    await server.query("postgres", "create table notes as select 'of postgres' as note");
  });
  afterAll(() => server?.stop());

  test("are restored exactly, with their roles, and others stay unchanged", async () => {
    const before = await everyDatabase();
    const { manifest, archive, said } = await dump();
    expect(said).toEqual([]);
    expect(manifest).toMatchObject({ databases });
    if (manifest.kind !== "database") throw new Error("not of databases");
    expect(tablesIn(shop, manifest.tables)).toEqual({ "public.notes": 1, "s.notes": 2 });
    expect(tablesIn(full, manifest.tables)).toMatchObject({ "public.users": 501 });
    expect(manifest.tables).toHaveProperty(`shop%2Eit's "ü" $1.public.notes`);

    const source = sourceOn(here);
    const drill = attemptOf();
    expect(await source.drill(from(archive), manifest, drill.attempt)).toBe(
      "3 databases restored, one after the other. Roles were not: those of the server were used.",
    );
    expect(drill.said.filter((line) => line.startsWith(`${shop}: `))).toEqual([
      `${shop}: 2 tables with 3 rows restored exactly, by the count and the checksum of each table.`,
    ]);
    await expectNothingLeft(server);

    await server.createDatabase("later");
    await dropApp();
    await each(
      "postgres",
      `drop database "100 %/x"`,
      "update notes set note = 'changed'; alter role reader connection limit 3",
    );
    // An idle connection, like that of a connection pool.
    const idle = new pg.Client(server.url("postgres"));
    idle.on("error", () => undefined);
    await idle.connect();
    const restore = attemptOf();
    await source.restore(from(archive), restore.attempt);
    await idle.end().catch(() => undefined);
    await expectNothingLeft(server);
    expect(restore.said).toContain(`Created the roles app, odd "role"; 'x'.`);
    expect(restore.said).toContain(
      "Left as they are, because the backup doesn't hold them: later.",
    );
    // An existing role is restored to its former state.
    await each("postgres", "drop database later", "alter role reader connection limit -1");
    expect(await everyDatabase()).toEqual(before);
    if (server.major >= 15)
      expect(
        await server.query(
          "postgres",
          "select has_parameter_privilege('app', 'log_min_messages', 'set') as set",
        ),
      ).toEqual([{ set: true }]);
  });

  test("a single one is restored, in its place or as a new one", async () => {
    const { manifest, archive } = await dumpWithoutFull();
    const partInto = (database: string, isNew = false) =>
      createDatabasePart(
        createPostgresSource({ host: here, name: "db-1", url: server.url(database), isNew }),
        shop,
      );
    await server.query(shop, "delete from notes; create table later ()");
    await server.query("postgres", "update notes set note = 'newer'");
    await partInto(shop).restore(from(archive), attemptOf().attempt, manifest);
    await partInto("copy", true).restore(from(archive), attemptOf().attempt, manifest);
    for (const name of [shop, "copy"]) {
      expect(await notes(name)).toEqual([{ note: "kept" }]);
      expect(await server.query(name, "select to_regclass('later') as later")).toEqual([
        { later: null },
      ]);
    }
    expect(await notes("postgres")).toEqual([{ note: "newer" }]);
    await each("postgres", "drop database copy", "update notes set note = 'of postgres'");
    const missing = createDatabasePart(partInto(shop), "nowhere");
    await expect(missing.restore(from(archive), attemptOf().attempt, manifest)).rejects.toThrow(
      "Nothing was changed: the backup holds no database “nowhere”.",
    );
    await expectNothingLeft(server);
  });

  test("an interrupted backup or restore changes nothing or everything", async () => {
    const { archive } = await dumpWithoutFull();
    const source = sourceOn(here);
    await server.query("postgres", "update notes set note = 'now'");
    await dropApp();
    const state = async () => [await properties(), await roles(), await notes("postgres")];
    const before = await state();
    const isUnchanged = async () => {
      await expectNothingLeft(server);
      expect(await state()).toEqual(before);
    };
    for (const length of isLongForm ? [3000, archive.length - 2000] : [archive.length - 2000])
      await expect(
        source.restore(from(archive.subarray(0, Math.floor(length))), attemptOf().attempt),
      ).rejects.toThrow(/cut off|isn't a complete|could not be read/);
    const single = from(Buffer.from(`PGDMP${"x".repeat(1000)}`));
    await expect(source.restore(single, attemptOf().attempt)).rejects.toThrow(
      "The backup isn't an archive of a database server.",
    );
    await isUnchanged();
    for (const [share, line] of [
      ...(isLongForm ? [[0.2, "Created the roles"] as const] : []),
      [0.9, `Restored ${shop}`],
    ] as const) {
      const ending = new AbortController();
      const { attempt } = attemptOf(ending.signal);
      const restoring = source.restore(from(archive), {
        ...attempt,
        say: (said) => said.startsWith(line) && ending.abort(new Error(`Canceled at ${share}.`)),
      });
      await expect(restoring).rejects.toThrow(`Canceled at ${share}.`);
      await isUnchanged();
    }
    // The state after a kill: databases under temporary names, and a marked role.
    await each(
      "postgres",
      "create database quarterdeck_restore_7_1",
      "create role half; comment on role half is 'quarterdeck restore 7'",
    );
    expect(await source.rehearse(never)).toContain(
      "A restore that was cut off left quarterdeck_restore_7_1.",
    );
    expect(await source.settle(attemptOf().attempt)).toBe("as it was");
    await isUnchanged();
    await server.query("postgres", "create database quarterdeck_old_7_1");
    expect(await source.settle(attemptOf().attempt)).toBe("restored");
    expect(await source.settle(attemptOf().attempt)).toBe("unknown");

    // What cannot be dropped afterwards is reported, and not taken for something else later.
    await each(
      "postgres",
      "create subscription far connection 'host=nowhere' publication p with (connect = false)",
    );
    const restore = attemptOf();
    await source.restore(from(archive), restore.attempt);
    expect(await notes("postgres")).toEqual([{ note: "of postgres" }]);
    expect(restore.said.join()).toMatch(/quarterdeck_old_7_2, a database .* couldn't be dropped/);
    expect(await source.settle(attemptOf().attempt)).toBe("unknown");
    await expect(source.restore(from(archive), attemptOf().attempt)).rejects.toThrow(
      "Nothing was changed: an earlier restore left quarterdeck_old_7_2.",
    );
    await each(
      "quarterdeck_old_7_2",
      "alter subscription far set (slot_name = none)",
      "drop subscription far",
    );
    await each("postgres", "drop database quarterdeck_old_7_2");
  });

  test("removes leftovers of an interrupted restore of its own installation or an earlier version, and of no other", async () => {
    const { archive } = await dumpWithoutFull();
    const source = sourceOn(here, server.url("postgres"), "i1");
    const left = async () => ({
      databases: await server.query(
        "postgres",
        "select datname as name from pg_database where datname ~ '^quarterdeck' order by 1",
      ),
      roles: await server.query(
        "postgres",
        "select rolname as name from pg_roles where rolname ~ '^half' order by 1",
      ),
    });
    await each(
      "postgres",
      ...["restore_7_i1_1", "restore_7_2", "restore_7_i2_1", "old_7_i2_1"].map(
        (name) => `create database quarterdeck_${name}`,
      ),
      ...["7", "7 i1", "7 i2"].flatMap((mark) => [
        `create role "half ${mark}"`,
        `comment on role "half ${mark}" is 'quarterdeck restore ${mark}'`,
      ]),
    );
    expect(await source.rehearse(never)).toContain(
      "A restore that was cut off left quarterdeck_restore_7_2, quarterdeck_restore_7_i1_1.",
    );
    expect((await dump(source)).manifest).toMatchObject({
      databases: ["100 %/x", "postgres", shop],
    });
    expect(await source.settle(attemptOf().attempt)).toBe("as it was");
    const ofAnother = {
      databases: [{ name: "quarterdeck_old_7_i2_1" }, { name: "quarterdeck_restore_7_i2_1" }],
      roles: [{ name: "half 7 i2" }],
    };
    expect(await left()).toEqual(ofAnother);
    const making: Promise<{ databases: Record<string, unknown>[] }>[] = [];
    const { attempt } = attemptOf();
    // Queries once, before the databases are exchanged, because the queried one is among them.
    const say = () => void (making.length === 0 && making.push(left()));
    await source.restore(from(archive), { ...attempt, say });
    const [made] = await Promise.all(making);
    expect(made?.databases).toContainEqual({ name: "quarterdeck_restore_7_i1_1" });
    expect(await left()).toEqual(ofAnother);
    await each(
      "postgres",
      ...ofAnother.databases.map(({ name }) => `drop database ${name}`),
      `drop role "half 7 i2"`,
    );
    await expectNothingLeft(server);
  });

  test("an account without all privileges reports what its backups lack, and restores single databases only", async () => {
    const url = server.url("postgres", { user: "reader", password: "rea" });
    const source = sourceOn(here, url);
    await expect(source.rehearse(never)).rejects.toThrow(/the account reader may not read /);
    await each(
      "postgres",
      "grant select on notes to reader; grant app to reader",
      `revoke connect on database "100 %/x" from public`,
    );
    await expect(source.rehearse(never)).rejects.toThrow(
      `the account reader may not connect to ${full}.`,
    );
    await each("postgres", `drop database "100 %/x"`);
    expect(await source.rehearse(never)).toMatch(
      /with 2 databases.* lacks the passwords of roles.* A restore of the whole server would be refused.* Of the database postgres alone: A restore would be refused/,
    );
    const { archive, manifest } = await dump(source);
    expect(archive.includes("SCRAM-SHA")).toBe(false);
    // Leftovers of an earlier restore do not affect this one.
    await server.createDatabase("quarterdeck_old_7_1", "reader");
    for (const refused of [
      () => source.refuseRestore?.(attemptOf().attempt, manifest),
      () => source.restore(from(archive), attemptOf().attempt, manifest),
    ])
      await expect(refused()).rejects.toThrow(
        "only a superuser can restore a whole server, and reader is none",
      );
    await each("postgres", "drop database quarterdeck_old_7_1");
    await expectNothingLeft(server);
  });

  test("a database whose name no tool could restore fails the run, which names it", async () => {
    const broken = '"line\nbreak"';
    await server.query("postgres", `create database ${broken}`);
    try {
      await expect(dump()).rejects.toThrow(/database "line\\nbreak" has a line break.*RENAME TO/);
    } finally {
      await server.query("postgres", `drop database ${broken}`);
    }
  });

  test("on a server over SSH are dumped by its own tools, which report a database that is dropped meanwhile", async () => {
    const source = sourceOn(await remote.host());
    await server.createDatabase("quarterdeck_drill_3");
    const { manifest, archive } = await dump(source);
    expect(manifest).toMatchObject({ databases: ["postgres", shop] });
    const paths: string[] = [];
    for await (const { path, content } of readFiles(from(archive))) {
      paths.push(path);
      await buffer(content);
    }
    expect(paths).toEqual(["globals.sql", fileOf("postgres"), fileOf(shop)]);
    await server.query("postgres", "drop database quarterdeck_drill_3");
    await server.query("postgres", "update notes set note = 'now'");
    await source.restore(from(archive), attemptOf().attempt);
    expect(await notes("postgres")).toEqual([{ note: "of postgres" }]);
    await expectNothingLeft(server);

    // Holds the first output until the last database is dropped.
    const dropped = Promise.withResolvers<void>();
    const { into, begun, content } = createCollector(dropped.promise);
    const { attempt, said } = attemptOf();
    const dumping: Promise<Manifest> = sourceOn(here).dump(into, attempt);
    await begun;
    await server.query("postgres", `drop database "shop.it's ""ü"" $1"`);
    dropped.resolve();
    expect(await dumping).toMatchObject({ databases: ["postgres"] });
    expect(said).toEqual([
      `The database ${shop} was dropped during the run, and is not in the backup.`,
    ]);
    expect(content().length).toBeGreaterThan(1000);
  });
});

test("creates only missing roles, whatever their names and passwords contain", () => {
  const globals = `
\\restrict abc
SET standard_conforming_strings = on;
CREATE ROLE postgres;
ALTER ROLE postgres WITH SUPERUSER PASSWORD 'a;b';
CREATE ROLE "a b";
ALTER ROLE "a b" WITH NOSUPERUSER PASSWORD 'it''s; CREATE ROLE x;';
COMMENT ON ROLE "a b" IS 'x;y';
CREATE ROLE c;
ALTER ROLE c WITH LOGIN;
ALTER ROLE c SET search_path TO 'x';
GRANT c TO postgres WITH INHERIT TRUE GRANTED BY "a b";
GRANT c TO d;
GRANT "a b" TO c GRANTED BY postgres;
CREATE TABLESPACE t OWNER c LOCATION '/t';
GRANT SET ON PARAMETER work_mem TO c;
GRANT SET,ALTER SYSTEM ON PARAMETER log_min_messages TO "a b" WITH GRANT OPTION;
`;
  expect(statementsForMissing(globals, new Set(["postgres", "c", "d"]))).toEqual({
    missing: ["a b"],
    statements: [
      `CREATE ROLE "a b"`,
      `ALTER ROLE "a b" WITH NOSUPERUSER PASSWORD 'it''s; CREATE ROLE x;'`,
      `GRANT "a b" TO c`,
    ],
    parameters: [`GRANT SET,ALTER SYSTEM ON PARAMETER log_min_messages TO "a b" WITH GRANT OPTION`],
    comments: new Map([["a b", `COMMENT ON ROLE "a b" IS 'x;y'`]]),
  });
});

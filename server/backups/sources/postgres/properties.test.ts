import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../../testing/postgres-server.ts";
import { toProperties } from "./properties.ts";
import { fingerprint, makeSource } from "./testing/fixtures.ts";

test("distinguishes statements for a database from commands for psql, and inserts its name", () => {
  const sql = String.raw`
-- a comment; with 'quotes
\restrict x;y
SET client_encoding = 'UTF8';
CREATE DATABASE "a""b;" WITH TEMPLATE = template0 ENCODING = 'UTF8';


ALTER DATABASE "a""b;" OWNER TO "the owner";
\connect -reuse-previous=on "dbname='x'"
COMMENT ON DATABASE "a""b;" IS 'it''s;
-- DATABASE x';
ALTER ROLE app IN DATABASE "a""b;" SET work_mem TO '9MB';
GRANT ALL ON DATABASE "a""b;" TO app;
`;
  expect(toProperties(sql, "sh$&op")).toEqual({
    clauses: "WITH TEMPLATE = template0 ENCODING = 'UTF8'",
    statements: [
      `COMMENT ON DATABASE "sh$&op" IS 'it''s;\n-- DATABASE x'`,
      `ALTER ROLE app IN DATABASE "sh$&op" SET work_mem TO '9MB'`,
      `GRANT ALL ON DATABASE "sh$&op" TO app`,
      `ALTER DATABASE "sh$&op" OWNER TO "the owner"`,
    ],
  });
});

let server: PostgresServer;
beforeAll(async () => {
  if (hasPostgresServer) server = await startPostgresServer();
});
afterAll(() => server?.stop());

describe.skipIf(!hasPostgresServer)("a PostgreSQL database that was dropped", () => {
  beforeAll(async () => {
    await server.query(
      "postgres",
      `create role "own er"; create role app login; create role maker login password 'mak' createdb; create role stranger`,
    );
  });

  const propertiesOf = (database: string) =>
    server.query(
      "postgres",
      `select pg_encoding_to_char(encoding), datcollate, datctype, datdba::regrole::text, datconnlimit, datistemplate,
         (select array_agg(acl::text order by acl::text) from unnest(datacl) as acl) as datacl, shobj_description(d.oid, 'pg_database') as comment,
         (select jsonb_agg(jsonb_build_array(setrole::regrole::text, setconfig) order by 1) from pg_db_role_setting where setdatabase = d.oid) as settings
       from pg_database d where datname = '${database.replaceAll("'", "''")}'`,
    );

  test("is restored with encoding, collation, owner, privileges, settings, comment and connection limit", async () => {
    const name = `sh"op 'é' $&`;
    const quoted = `"sh""op 'é' $&"`;
    const sql = [
      `create database ${quoted} owner "own er" encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0 connection limit 7`,
      `comment on database ${quoted} is E'it''s; \\\\ mine\nDATABASE x ☃'`,
      `alter database ${quoted} set search_path to app, public`,
      `alter database ${quoted} set application_name = E'a;\\'b\\\\\nc'`,
      `alter role app in database ${quoted} set statement_timeout = 5`,
      `revoke connect on database ${quoted} from public`,
      `grant create on database ${quoted} to app with grant option`,
    ];
    for (const statement of sql) await server.query("postgres", statement);
    await server.query(
      name,
      "create schema app; create table app.words (word text); insert into app.words values ('größer')",
    );
    const before = {
      properties: await propertiesOf(name),
      content: await fingerprint(server, name),
    };
    const { source, attempt, dump, said } = makeSource(server.url(name));
    const { archive, manifest } = await dump();
    await server.query("postgres", `drop database ${quoted}`);
    expect(await source.drill(Readable.from([archive]), manifest, attempt())).toMatch(/exactly/);
    await source.restore(Readable.from([archive]), attempt());
    expect({
      properties: await propertiesOf(name),
      content: await fingerprint(server, name),
    }).toEqual(before);
    expect(said).toEqual([`Created the database ${name}.`]);
  });

  test("reports what could not be set, and sets the rest", async () => {
    for (const statement of [
      `create database shop owner "own er" connection limit 3`,
      `create role leaving`,
      `grant connect on database shop to leaving`,
      `grant temporary on database shop to app`,
      `alter role leaving in database shop set work_mem = '9MB'`,
    ])
      await server.query("postgres", statement);
    await server.query(
      "shop",
      "alter schema public owner to maker; create table t (a int); alter table t owner to maker",
    );
    const { archive } = await makeSource(server.url("shop")).dump();
    await server.query("postgres", "drop database shop");
    await server.query("postgres", "drop role leaving");
    const { source, attempt, said } = makeSource(
      server.url("shop", { user: "maker", password: "mak" }),
    );
    await source.restore(Readable.from([archive]), attempt());
    expect(await propertiesOf("shop")).toMatchObject([
      { datdba: "maker", datconnlimit: 3, datacl: expect.arrayContaining(["app=T/maker"]) },
    ]);
    // Before PostgreSQL 15, the schema belongs to a superuser in a new database.
    const ofPublic = "the owner and privileges of the schema public";
    const others = server.major < 15 ? said.filter((line) => !line.includes(ofPublic)) : said;
    expect(others).toEqual([
      "Created the database shop.",
      expect.stringContaining("ALTER ROLE leaving IN DATABASE"),
      expect.stringContaining(`TO leaving: role "leaving" does not exist`),
      expect.stringContaining(`OWNER TO "own er": must be a member of role own er`),
    ]);
  });

  test("is created as a new one if the server lacks its locale, which is reported", async ({
    skip,
  }) => {
    skip(server.major < 15, "All locales are libc's.");
    await server.query(
      "postgres",
      "create database \"else\" template template0 locale_provider icu icu_locale 'de-DE' encoding 'UTF8'",
    );
    const { archive } = await makeSource(server.url("else")).dump();
    await server.query("postgres", 'drop database "else"');
    // A locale of the same length that no server has; an archive keeps it as text.
    const unknown = Buffer.from(
      archive.toString("latin1").replaceAll("ICU_LOCALE = 'de-DE'", "LC_COLLATE = 'qqqqq'"),
      "latin1",
    );
    expect(unknown.equals(archive)).toBe(false);
    const { source, attempt, said } = makeSource(server.url("else"));
    await source.restore(Readable.from([unknown]), attempt());
    expect(said.join("\n")).toMatch(/could not be made with .*qqqqq.*: .*locale.*\n.*Created/s);
    expect(await propertiesOf("else")).toMatchObject([{ pg_encoding_to_char: "UTF8" }]);
  });
});

describe.skipIf(!hasPostgresServer)("a drill", () => {
  test("fails if a row or a large object differs, though none is missing", async () => {
    await server.createDatabase("notes");
    await server.query(
      "notes",
      "create table note (id int, text text); insert into note values (1, 'one'), (2, 'two'); select lo_from_bytea(77, 'large')",
    );
    const { source, attempt, dump } = makeSource(server.url("notes"));
    const { manifest } = await dump();
    await server.query("notes", "update note set text = 'owt' where id = 2");
    const changed = await dump();
    const drill = (archive: Buffer) => source.drill(Readable.from([archive]), manifest, attempt());
    await expect(drill(changed.archive)).rejects.toThrow(
      "The restored data differs from the backup: the rows of public.note are not the same.",
    );
    await server.query(
      "notes",
      "update note set text = 'two' where id = 2; select lo_put(77, 2, 'X')",
    );
    await expect(drill((await dump()).archive)).rejects.toThrow("rows of large objects are not");
    await server
      .query("notes", "select lo_put(77, 2, 'r'); cluster note using none")
      .catch(() => 0);
    await server.query(
      "notes",
      "begin; delete from note where id = 1; insert into note values (1, 'one'); commit",
    );
    await server.query("notes", "select lo_put(77, 2, 'r')");
    // Another order does not matter.
    expect(await drill((await dump()).archive)).toContain("restored exactly");
  });
});

// Tests real-world databases: backed up, drilled, damaged and restored over HTTP, and compared by the engine's own tools.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { casesOf } from "../testing/long-form.ts";
import { ownUser } from "../testing/own-user.ts";
import { fingerprint } from "./sources/postgres/testing/fixtures.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";
import { startMariadbServer, type MariadbServer } from "./testing/mariadb-server.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "./testing/postgres-server.ts";
import { keysOf } from "../../contract/keys-of.ts";

const run = promisify(execFile);

let service: BackupTestService;
let mariadb: MariadbServer | null = null;
let postgres: PostgresServer | null = null;

/** Without its tables MariaDB can no longer read its views, so a safety backup would fail. */
const viewsThatBreak = "trade";

type Engine = {
  fill(name: string, sql: string): Promise<void>;
  /** Replaces some tables by views, changes the others, and creates objects that no backup contains. */
  wreck(name: string): Promise<void>;
  /** Returns the whole content, for comparison. */
  read(name: string): Promise<unknown>;
  /** Names of the files in `testing/foreign`; each becomes a database of that name. */
  names: readonly string[];
};

const server = () => postgres ?? expect.fail("no PostgreSQL");
const mariadbServer = () => mariadb ?? expect.fail("no MariaDB");
const sqliteFile = (name: string) => join(service.folder, `${name}.db`);

/** Opens the file for some work, and closes it. */
function onFile<Result>(name: string, work: (database: DatabaseSync) => Result): Result {
  const database = new DatabaseSync(sqliteFile(name), { enableForeignKeyConstraints: false });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

const engines = {
  postgres: {
    names: ["rental", "trade", "wiki"],
    async fill(name, sql) {
      await server().createDatabase(name);
      await server().query(name, sql);
    },
    async wreck(name) {
      const tables = await server().query<{ table: string }>(
        name,
        `select oid::regclass::text as table from pg_class where relkind in ('r', 'p') and not relispartition
           and relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) order by 1`,
      );
      const statements = tables.map(({ table }, at) =>
        at % 2 === 0
          ? `drop table ${table} cascade; create view ${table} as select ${at} as later;`
          : `truncate ${table} cascade; alter table ${table} add column later int default 7;`,
      );
      await server().query(
        name,
        `${statements.join("\n")}
         create table public.later (id int, at date) partition by range (at);
         create table public.later_default partition of public.later default;
         insert into public.later values (1, '2030-01-01');`,
      );
    },
    read: (name) => fingerprint(server(), name),
  },
  mariadb: {
    names: ["rental", "trade", "employees", "blog", "wiki"],
    async fill(name, sql) {
      await mariadbServer().createDatabase(name);
      await mariadbServer().query(name, sql);
    },
    async wreck(name) {
      const tables = await namesOf(name, "TABLE_TYPE = 'BASE TABLE'");
      const statements = tables.map((table, at) =>
        at % 2 === 0
          ? `DROP TABLE ${table}; CREATE VIEW ${table} AS SELECT ${at} AS later;`
          : `DELETE FROM ${table} LIMIT 3; ALTER TABLE ${table} ADD COLUMN later INT DEFAULT 7;`,
      );
      await mariadbServer().query(
        name,
        `SET foreign_key_checks = 0, sql_mode = ''; ${statements.join("\n")}
         CREATE TABLE later (id INT PRIMARY KEY); CREATE VIEW a_later AS SELECT * FROM later; INSERT INTO later VALUES (1);`,
      );
    },
    async read(name) {
      const { hostname, port, username, password } = new URL(mariadbServer().url(name));
      // `--force`, because views with missing tables are dumped, too.
      const options =
        "--no-defaults --force --skip-comments --routines --events --triggers --hex-blob";
      const call = [
        ...options.split(" "),
        `--host=${hostname}`,
        `--port=${port}`,
        `--user=${username}`,
        name,
      ];
      const env = { ...process.env, MYSQL_PWD: decodeURIComponent(password) };
      const { stdout } = await run("mariadb-dump", call, { env, maxBuffer: 2 ** 28 }).catch(
        (failure: { stdout: string }) => failure,
      );
      // Compares numbers that a dump rounds in full precision.
      const tables = await namesOf(name, "TABLE_TYPE = 'BASE TABLE'");
      const sums = await mariadbServer().query(
        name,
        `CHECKSUM TABLE ${tables.join(", ")} EXTENDED`,
      );
      return { dump: stdout.split("\n"), sums };
    },
  },
  sqlite: {
    names: ["media", "geography"],
    fill: async (name, sql) => onFile(name, (database) => database.exec(sql)),
    wreck: async (name) =>
      onFile(name, (database) => {
        for (const [at, table] of tablesOf(database, "table").entries())
          database.exec(
            at % 2 === 0
              ? `drop table ${table}; create view ${table} as select ${at} as later`
              : `alter table ${table} add column later int default 7`,
          );
        database.exec("create table later (id integer primary key); pragma user_version = 9");
      }),
    read: async (name) =>
      onFile(name, (database) => {
        const schema = database
          .prepare("select type, name, tbl_name, sql from sqlite_schema order by 1, 2")
          .all();
        // Includes shadow tables, which contain the data of virtual tables.
        const tables = [...tablesOf(database, "table"), ...tablesOf(database, "shadow")];
        const rows = tables.map((table) => {
          const statement = database.prepare(`select * from ${table}`);
          statement.setReadBigInts(true);
          return [table, statement.all()];
        });
        const header = ["application_id", "user_version", "page_size", "auto_vacuum"].map((key) =>
          database.prepare(`pragma ${key}`).get(),
        );
        return { schema, rows, header, whole: database.prepare("pragma integrity_check").all() };
      }),
  },
} as const satisfies Record<string, Engine>;

const tablesOf = (database: DatabaseSync, type: "table" | "shadow"): string[] =>
  database
    .prepare(
      "select name from pragma_table_list where schema = 'main' and type = ? and name not like 'sqlite!_%' escape '!' order by 1",
    )
    .all(type)
    .map(({ name }) => quoted(String(name)));

const namesOf = async (name: string, condition: string): Promise<string[]> => {
  const lines = await mariadbServer().query(
    name,
    `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = '${name}' AND ${condition} ORDER BY 1`,
  );
  return lines
    .trim()
    .split("\n")
    .map((table) => `\`${table.replaceAll("`", "``")}\``);
};

const kinds = keysOf(engines).filter((kind) => kind !== "postgres" || hasPostgresServer);
const all = kinds.flatMap((kind) => engines[kind].names.map((name) => ({ kind, name })));
/** The most unusual one of SQLite; tests of the other engines' own cover all kinds of objects. Each has its id in the inventory. */
const cases = casesOf(Object.fromEntries(all.map((one) => [`${one.kind} ${one.name}`, one])), [
  "sqlite geography",
]).map(([title, one], at) => ({ ...one, title, id: 10 + at }));

beforeAll(async () => {
  postgres = cases.some(({ kind }) => kind === "postgres") ? await startPostgresServer() : null;
  mariadb = cases.some(({ kind }) => kind === "mariadb") ? await startMariadbServer() : null;
  const place = ({ kind, name }: (typeof cases)[number], folder: string) =>
    kind === "sqlite"
      ? `engine: sqlite, path: ${folder}/${name}.db, user: ${ownUser}`
      : `engine: ${kind === "mariadb" ? "mysql" : kind}, url: "env:${kind.toUpperCase()}_${name.toUpperCase()}"`;
  service = await createBackupTestService(
    {
      secrets: Object.fromEntries(
        cases
          .filter(({ kind }) => kind !== "sqlite")
          .map(({ kind, name }) => [
            `${kind.toUpperCase()}_${name.toUpperCase()}`,
            (kind === "mariadb" ? mariadbServer() : server()).url(name),
          ]),
      ),
    },
    {
      databases: (folder) =>
        cases
          .map(
            (one) =>
              `  - { id: ${one.id}, server: 1, name: ${one.kind} ${one.name}, ${place(one, folder)} }`,
          )
          .join("\n"),
    },
  );
});
afterAll(async () => {
  await service.close();
  await mariadb?.stop();
  await postgres?.stop();
});

test.each(cases)(
  "$title: a restore over later changes brings back the same content",
  async ({ kind, name, id }) => {
    const engine: Engine = engines[kind];
    const file = join(import.meta.dirname, "testing/foreign", `${name}.${kind}.sql`);
    await engine.fill(name, await readFile(file, "utf8"));
    const before = await engine.read(name);

    const configuration = await service.installed({
      backupable_id: id,
      directory: `${kind}-${name}`,
    });
    expect(configuration.warnings).toEqual([]);
    const backup = await service.run(configuration.id);
    expect(backup.status, backup.output).toBe("finished");
    expect(await engine.read(name), "a backup changes nothing").toEqual(before);

    await service.call("POST", `/api/backup/${backup.id}/drill`);
    await soon(async () => {
      const { drill_status: drill, drill_output: output } = await service.backup(backup.id);
      expect(drill, output ?? "").toBe("finished");
    });

    await engine.wreck(name);
    expect(await engine.read(name)).not.toEqual(before);
    await service.call("PUT", `/api/backup/${backup.id}`);
    if (name === viewsThatBreak && kind === "mariadb") {
      const wrecked = await engine.read(name);
      const { restore_output: output } = await service.restored(backup.id, "failed");
      expect(output).toMatch(
        /nothing was changed: A view of trade.*restore again without a backup/s,
      );
      expect(await engine.read(name)).toEqual(wrecked);
      await service.call("PUT", `/api/backup/${backup.id}`, { skip_safety_backup: true });
    }
    await service.restored(backup.id, "finished");
    expect(await engine.read(name)).toEqual(before);
  },
);

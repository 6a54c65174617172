// Tests importing and restoring files that Quarterdeck did not make.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { gunzipSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backup } from "../../../contract/backups/backup.ts";
import type { ArchiveFiles, CurrentContents } from "../../../contract/backups/contents.ts";
import type { ImportableFiles } from "../../../contract/backups/import.ts";
import { backupTaskQueue } from "../../jobs/job-data.ts";
import { serialQueueOptions } from "../../jobs/serial-queue.ts";
import { createRemoteServer } from "../../ssh/testing/remote-server.ts";
import { casesOf, inLongForm, isLongForm } from "../../testing/long-form.ts";
import { ownUser } from "../../testing/own-user.ts";
import {
  createBackupTestService,
  soon,
  type BackupTestService,
} from "../testing/backup-service.ts";
import { startMariadbServer, type MariadbServer } from "../testing/mariadb-server.ts";
import {
  hasPostgresServer,
  postgresTools,
  startPostgresServer,
  type PostgresServer,
} from "../testing/postgres-server.ts";

const run = promisify(execFile);
const foreign = (name: string) =>
  readFile(new URL(`../testing/foreign/${name}.sql`, import.meta.url), "utf8");

/** A server over SSH, with the same database servers. */
const remote = createRemoteServer();
const far = 3;
let service: BackupTestService;
let mariadb: MariadbServer;
let postgres: PostgresServer;
let brought: string;

/** Writes the output of a program to a file of the storage. */
async function toFile(name: string, argv: string[], env: Record<string, string> = {}) {
  const [program = "", ...args] = argv;
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  await pipeline(child.stdout, createWriteStream(join(brought, name)));
  expect(await ended).toEqual([0, null]);
}
const put = (name: string, content: Buffer | string) => writeFile(join(brought, name), content);
const read = (name: string) => readFile(join(brought, name));

const pgDump = (database: string, ...more: string[]) => [
  join(postgresTools, "pg_dump"),
  ...more,
  postgres.url(database),
];
function mariadbDump(...more: string[]) {
  const { hostname, port, username } = new URL(mariadb.url("blog"));
  const at = [`--host=${hostname}`, `--port=${port}`, `--user=${username}`];
  return ["mariadb-dump", "--no-defaults", ...at, "--routines", "--triggers", ...more];
}
const mariadbPassword = () => ({
  MYSQL_PWD: decodeURIComponent(new URL(mariadb.url("blog")).password),
});

beforeAll(async () => {
  [postgres, mariadb] = await Promise.all([startPostgresServer(), startMariadbServer()]);
  for (const name of ["laravel", "shop"]) await postgres.createDatabase(name);
  await postgres.query(
    "laravel",
    await readFile(new URL("testing/laravel.postgres.sql", import.meta.url), "utf8"),
  );
  await postgres.query(
    "shop",
    "create role shop login password 'shop' createdb; alter database shop owner to shop",
  );
  for (const name of ["blog", "trade", "shop"]) await mariadb.createDatabase(name);
  await mariadb.query("blog", await foreign("blog.mariadb"));
  await mariadb.query("trade", await foreign("trade.mariadb"));
  service = await createBackupTestService(
    {
      secrets: {
        PG: postgres.url("shop", { user: "shop", password: "shop" }),
        MY: mariadb.url("shop"),
        ROOT: postgres.url("shop"),
      },
    },
    {
      servers: `  - { id: ${far}, name: far, connection: ${await remote.connection()} }`,
      sites: (folder) =>
        `  - { id: 9, server: ${far}, name: far, root: ${folder}/far, user: ${ownUser} }`,
      databases: (folder) => `
  - { id: 4, server: 1, name: shop-pg, engine: postgres, url: env:PG }
  - { id: 5, server: 1, name: shop-my, engine: mysql, url: env:MY }
  - { id: 6, server: 1, name: shop-root, engine: postgres, url: env:ROOT }
  - { id: 7, server: ${far}, name: far-pg, engine: postgres, url: env:PG }
  - { id: 8, server: ${far}, name: far-my, engine: mysql, url: env:MY }
  - { id: 9, server: ${far}, name: far-lite, engine: sqlite, path: ${folder}/far.sqlite, user: ${ownUser} }`,
    },
  );
  await mkdir(join(service.folder, "far"));
  brought = join(service.folder, "copies/brought");
  await mkdir(brought);
  // Creates the marker, so that the storage counts as available.
  await writeFile(join(service.folder, "copies/.quarterdeck-storage"), "");
  await toFile("laravel.dump", pgDump("laravel", "--format=custom"));
  await toFile("laravel.sql", pgDump("laravel"));
  await toFile("blog.sql", mariadbDump("blog"), mariadbPassword());
  const media = join(service.folder, "media.db");
  const database = new DatabaseSync(media, { enableForeignKeyConstraints: false });
  database.exec(await foreign("media.sqlite"));
  database.close();
  await run("sqlite3", [media, `.backup '${join(brought, "media.bin")}'`]);
  await mkdir(join(service.folder, "old/public"), { recursive: true });
  await writeFile(join(service.folder, "old/public/index.php"), "<?php echo 'imported';\n");
  await run("ln", ["-s", "public/index.php", join(service.folder, "old/index")]);
  await toFile("site.tar.gz", ["tar", "czf", "-", "-C", join(service.folder, "old"), "."]);
});
afterAll(async () => {
  await service?.close();
  await postgres?.stop();
  await mariadb?.stop();
});

type Kind = "database" | "site";
const ask = (kind: Kind, id: number, path: string) =>
  service.json<Backup>("POST", `/api/${kind}/${id}/import`, {
    storage_provider_id: 1,
    path: `brought/${path}`,
  });
async function imported(kind: Kind, id: number, path: string): Promise<Backup> {
  const { status, body } = await ask(kind, id, path);
  expect(status, JSON.stringify(body)).toBe(202);
  return service.ended(body.id);
}
/** @param body by default without a safety backup, which another test covers */
async function restored(
  backup: Backup,
  body: object = { skip_safety_backup: true },
): Promise<void> {
  expect((await service.call("PUT", `/api/backup/${backup.id}`, body)).status).toBe(202);
  await service.restored(backup.id, "finished");
}
const scratchDatabases = async () => [
  ...(await postgres.query(
    "postgres",
    "select datname from pg_database where datname ~ '^quarterdeck_'",
  )),
  ...(await mariadb.query(null, "SHOW DATABASES LIKE 'quarterdeck\\_%'")).split("\n").slice(1),
];
/** Returns the files of imports: backups, their manifests and files not imported yet. */
async function storedOf(folder: string): Promise<string[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  return all
    .filter((one) => one.isFile() && !one.parentPath.startsWith(brought))
    .map(({ name }) => name)
    .filter((name) => !/^(?:\.quarterdeck-storage|RECOVERY\.md)$/.test(name))
    .toSorted();
}

describe.runIf(hasPostgresServer)("a file in a storage", () => {
  const ownSchema: [string, number, string, () => Promise<void>][] = [
    [
      "plain SQL of pg_dump that drops and makes the schema public",
      4,
      "schema.sql",
      () => toFile("schema.sql", pgDump("laravel", "--schema=public", "--clean")),
    ],
    [
      "an archive of pg_dump that makes the schema public",
      4,
      "schema.dump",
      () => toFile("schema.dump", pgDump("laravel", "--format=custom", "--schema=public")),
    ],
  ];
  test.each([
    [
      "an archive of pg_dump, compressed",
      4,
      "laravel.dump.zst",
      async () => put("laravel.dump.zst", zstdCompressSync(await read("laravel.dump"))),
    ],
    [
      "plain SQL of pg_dump, compressed, of a server over SSH",
      7,
      "laravel.sql.gz",
      async () => put("laravel.sql.gz", gzipSync(await read("laravel.sql"))),
    ],
    [
      "plain SQL of pg_dump that makes its database",
      4,
      "made.sql",
      async () => {
        await postgres.query("postgres", 'create database "old ä\'s" template laravel');
        await postgres.query(
          "postgres",
          "alter database \"old ä's\" set work_mem = '5MB'; alter role shop in database \"old ä's\" set work_mem = '6MB'",
        );
        await toFile("made.sql", pgDump("old ä's", "--create", "--clean", "--if-exists"));
      },
    ],
    ...(isLongForm ? ownSchema : []),
  ])("imports %s as a backup that restores all of it", async (_, target, path, make) => {
    await make();
    const backup = await imported("database", target, path);
    expect(backup.status, backup.output).toBe("finished");
    expect(backup.output).not.toContain("superuser");
    expect(backup).toMatchObject({
      trigger: "import",
      path: expect.stringMatching(/^(?:shop|far)-pg\/\d+\/.*\.dump\.zst$/),
    });
    expect(await scratchDatabases()).toEqual([]);
    const { body: contents } = await service.json<{ tables: { name: string; rows: number }[] }>(
      "GET",
      `/api/backup/${backup.id}/contents`,
    );
    expect(Object.fromEntries(contents.tables.map(({ name, rows }) => [name, rows]))).toMatchObject(
      {
        "public.users": 50,
        "public.orders": 120,
        "public.failed jobs": 2,
        "public.events_2026": 2,
      },
    );
    await postgres.query(
      "shop",
      "drop table if exists public.users, public.orders cascade; drop table if exists public.later; create table public.later (); alter table public.later owner to shop",
    );
    // Every import is stored as the same kind of dump, so one of them is restored with a safety backup, and drilled.
    const isFirst = path === "laravel.dump.zst";
    await (isFirst ? restored(backup, {}) : restored(backup));
    const tables = (name: string) =>
      postgres.query(name, "select id, user_id, note, total::text from orders order by id");
    expect(await tables("shop")).toEqual(await tables("laravel"));
    expect(
      await postgres.query(
        "shop",
        "select to_regclass('public.later') as later, twice(4) as twice",
      ),
    ).toEqual([{ later: null, twice: 8 }]);
    expect(
      await postgres.query(
        "shop",
        "select distinct tableowner as owner from pg_tables where schemaname = 'public'",
      ),
    ).toEqual([{ owner: "shop" }]);
    if (isFirst) await service.drilled(backup.id);
  });

  test.each(isLongForm ? ["a dump of another schema"] : [])(
    "restores %s unchanged, except for owners",
    async () => {
      await postgres.createDatabase("rental");
      await postgres.query("rental", await foreign("rental.postgres"));
      await toFile("rental.dump.zst", pgDump("rental", "--format=custom", "--no-owner"));
      await put("rental.dump.zst", zstdCompressSync(await read("rental.dump.zst")));
      const backup = await imported("database", 4, "rental.dump.zst");
      expect(backup.status, backup.output).toBe("finished");
      await restored(backup);
      const tables =
        "select relname, relkind from pg_class where relnamespace = 'public'::regnamespace order by 1, 2";
      expect(await postgres.query("shop", tables)).toEqual(await postgres.query("rental", tables));
    },
  );

  const mariadbDumps = {
    "of one database": { target: 5, path: "blog.sql", make: async () => undefined },
    "that makes and names its database, compressed, of a server over SSH": {
      target: 8,
      path: "named.sql.bz2",
      async make() {
        await toFile("named.sql", mariadbDump("--databases", "trade"), mariadbPassword());
        await toFile("named.sql.bz2", ["bzip2", "--stdout", join(brought, "named.sql")]);
      },
    },
  };

  // Imports into databases of this machine are tested with PostgreSQL and SQLite.
  test.each(
    casesOf(mariadbDumps, ["that makes and names its database, compressed, of a server over SSH"]),
  )(
    "a dump of MariaDB %s is restored, and only affects its own database",
    async (_, { target, path, make }) => {
      await make();
      const from = path === "blog.sql" ? "blog" : "trade";
      const before = await mariadb.query(null, "SHOW DATABASES");
      const backup = await imported("database", target, path);
      expect(backup.status, backup.output).toBe("finished");
      await restored(backup);
      const counted = async (name: string) => {
        const tables = (
          await mariadb.query(name, "SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'")
        )
          .split("\n")
          .slice(1)
          .map((line) => `\`${line.split("\t")[0]}\``)
          .filter((table) => table !== "``");
        return mariadb
          .query(name, `CHECKSUM TABLE ${tables.join(", ")}`)
          .then((sums) => sums.replaceAll(`${name}.`, ""));
      };
      expect(await counted("shop")).toEqual(await counted(from));
      expect(await mariadb.query(null, "SHOW DATABASES")).toBe(before);
      if (from === "trade") expect(backup.output).toContain("“trade”");
    },
  );

  inLongForm(() => {
    test("a dump without character sets uses that of the database, not of its server", async () => {
      expect(await mariadb.query(null, "SELECT @@character_set_server")).not.toContain("utf8");
      await mariadb.createDatabase("plain");
      await mariadb.query(
        "plain",
        "CREATE TABLE city (name VARCHAR(20)); INSERT INTO city VALUES ('Łódź 🚲')",
      );
      await toFile("plain.sql", mariadbDump("--skip-opt", "plain"), mariadbPassword());
      expect((await read("plain.sql")).includes("CHARSET")).toBe(false);
      await restored(await imported("database", 5, "plain.sql"));
      expect(await mariadb.query("shop", "SELECT name FROM city")).toBe("Łódź 🚲\n");
    });

    test("restores each view of a dump without quoted names", async () => {
      await mariadb.createDatabase("bare");
      const views = [1, 2, 3].map((n) => `CREATE VIEW v${n} AS SELECT ${n} * n AS n FROM a;`);
      await mariadb.query(
        "bare",
        `CREATE TABLE a (n INT); INSERT INTO a VALUES (7); ${views.join("")}`,
      );
      await toFile("bare.sql", mariadbDump("--skip-quote-names", "bare"), mariadbPassword());
      await restored(await imported("database", 5, "bare.sql"));
      expect(await mariadb.query("shop", "SELECT v1.n, v2.n, v3.n FROM v1, v2, v3")).toBe(
        "7\t14\t21\n",
      );
    });
  });

  const exports = {
    phpMyAdmin: { from: "phpmyadmin", path: "exported.sql.gz" },
    Adminer: { from: "adminer", path: "exported.sql" },
  };
  test.each(casesOf(exports, ["phpMyAdmin"]))(
    "an export of %s is restored in full and in part, and drilled",
    async (name, { from, path }) => {
      const text = await foreign(`shop.${from}`);
      await put(path, path.endsWith(".gz") ? gzipSync(text) : text);
      await mariadb.createDatabase(from);
      await mariadb.query(from, text);
      const backup = await imported("database", 5, path);
      expect(backup.status, backup.output).toBe("finished");
      expect(backup.output).toContain(`SQL text of ${name}`);
      expect(await scratchDatabases()).toEqual([]);
      const { body } = await service.json<{ tables: { name: string; rows: number }[] }>(
        "GET",
        `/api/backup/${backup.id}/contents`,
      );
      expect(Object.fromEntries(body.tables.map(({ name: table, rows }) => [table, rows]))).toEqual(
        {
          users: 3,
          "order items": 3,
          files: 2,
          legacy: 2,
          log: 0,
        },
      );
      // Compares the whole dump without the accounts of definers.
      const dumped = async (database: string) =>
        (await mariadb.dump(database))
          .replaceAll(/DEFINER=`\w+`@`[^`]+`/g, "DEFINER")
          .replaceAll(
            /^(-- Host: .* Database: |-- Dumping (?:events|routines) for .*? ').*/gm,
            "$1",
          );
      const whole = await dumped(from);
      await restored(backup);
      expect(await dumped("shop")).toBe(whole);
      // From here on, both formats take the same code path.
      if (from === "adminer" && !isLongForm) return;
      await service.drilled(backup.id);

      await mariadb.query("shop", "UPDATE `order items` SET qty = 9; DROP TABLE files");
      const part = { backup_id: backup.id, tables: ["order items", "files"] };
      expect(await service.statusOf("POST", "/api/database/5/restore", part)).toBe(202);
      await service.restored(backup.id, "finished");
      expect(await dumped("shop")).toBe(whole);
    },
  );

  test("imports an export with warnings when some of its rows are skipped", async () => {
    const twice = "INSERT IGNORE INTO `files` (`id`) VALUES (1), (3);\n\n-- 2026";
    await put("twice.sql", (await foreign("shop.adminer")).replace(/-- 2026/, twice));
    const backup = await imported("database", 5, "twice.sql");
    expect(backup.status, backup.output).toBe("finished");
    expect(backup.output).toMatch(/^Warning: .* rows of the file, .*: files has 3 rows of 4\.$/m);
  });

  test("a restore of a dump with collations of another server says what to do", async () => {
    await mariadb.query(null, "CREATE DATABASE newer CHARACTER SET utf8mb4");
    await mariadb.query("newer", "CREATE TABLE t (a VARCHAR(9)) COLLATE utf8mb4_general_ci");
    await toFile("newer.sql", mariadbDump("newer"), mariadbPassword());
    const dump = await read("newer.sql");
    await put("newer.sql", dump.toString().replace("utf8mb4_general_ci", "utf8mb4_0900_ai_ci"));
    const backup = await imported("database", 5, "newer.sql");
    await service.call("PUT", `/api/backup/${backup.id}`, { skip_safety_backup: true });
    const { restore_output: output } = await service.restored(backup.id, "failed");
    expect(output).toMatch(
      /has no such collation: .* MySQL .*sed .*Unknown collation: 'utf8mb4_0900/,
    );
  });

  test("imports a SQLite database and an archive as backups that restore them", async () => {
    await toFile("media.xz", ["xz", "--stdout", join(brought, "media.bin")]);
    const database = await imported("database", 1, "media.xz");
    expect(database.status, database.output).toBe("finished");
    await restored(database);
    expect(service.sql('select count(*) as n from "Track List"')).toEqual([{ n: 1982 }]);
    const own = await service.installed({ backupable_type: "site" });
    const site = await imported("site", 1, "site.tar.gz");
    expect(site.status, site.output).toBe("finished");
    await restored(site);
    expect(await readFile(join(service.folder, "shop/index"), "utf8")).toContain("imported");
    const { configuration_id: id = 0 } = site;
    const configuration = await service.show(id);
    expect(configuration).toMatchObject({
      name: "shop (imported)",
      next_run_at: null,
      drill: null,
    });
    // Before a restore over the site, its configuration makes a safety backup.
    const current = await service.json<CurrentContents>("GET", "/api/site/1/contents");
    expect(current.body.saved_by?.id).toBe(own.id);
    // Retention deletes no imports, however many there are.
    const again = await imported("site", 1, "site.tar.gz");
    expect(again.configuration_id).toBe(id);
    expect(
      (await service.show(id)).backups.filter(({ trigger }) => trigger === "import"),
    ).toHaveLength(2);
  });

  test("a missing database is rehearsed again once it is restored", async () => {
    const backup = await imported("database", 3, "media.bin");
    const configuration = () => service.show(backup.configuration_id ?? 0);
    await soon(async () =>
      expect(await configuration()).toMatchObject({
        status: "failed",
        status_reason: expect.stringContaining("is not there"),
      }),
    );
    await restored(backup);
    await soon(async () =>
      expect(await configuration()).toMatchObject({
        status: "installed",
        status_reason: null,
        next_run_at: null,
      }),
    );
    await rm(join(service.folder, "gone.sqlite"));
  });

  test("an archive whose names have no leading “./” is listed, and restored in part", async () => {
    await writeFile(join(service.folder, "old/.env"), "APP_ENV=old\n");
    await toFile("names.tar", [
      "tar",
      "cf",
      "-",
      "-C",
      join(service.folder, "old"),
      ".env",
      "public",
    ]);
    const site = await imported("site", 1, "names.tar");
    expect(site.status, site.output).toBe("finished");
    const { body } = await service.json<ArchiveFiles>("POST", `/api/backup/${site.id}/files`, {});
    expect(body.files.map(({ path }) => path)).toEqual(["public", ".env"]);
    for (const path of [".env", "public/index.php"]) {
      await rm(join(service.folder, "shop", path), { force: true });
      const part = { backup_id: site.id, path };
      expect(await service.statusOf("POST", "/api/site/1/restore", part)).toBe(202);
      await service.restored(site.id, "finished");
    }
    expect(await readFile(join(service.folder, "shop/.env"), "utf8")).toBe("APP_ENV=old\n");
    expect(await readFile(join(service.folder, "shop/public/index.php"), "utf8")).toContain(
      "imported",
    );
  });

  test("of a server over SSH is tested and restored by that server, or refused without leaving anything there", async () => {
    const database = await imported("database", 9, "media.bin");
    expect(database.status, database.output).toBe("finished");
    expect(database.path).toMatch(/^far-lite\//);
    await restored(database);
    const { stdout } = await run("sqlite3", [
      join(service.folder, "far.sqlite"),
      'select count(*) from "Track List"',
    ]);
    expect(stdout).toBe("1982\n");
    const site = await imported("site", 9, "site.tar.gz");
    expect(site.status, site.output).toBe("finished");
    await restored(site);
    expect(await readFile(join(service.folder, "far/index"), "utf8")).toContain("imported");

    await put("cut.bin", (await read("media.bin")).subarray(0, -4096));
    const files = () => storedOf(service.folder);
    const before = await files();
    const refused = await imported("database", 9, "cut.bin");
    expect(refused.status_reason).toMatch(/malformed\. It is damaged\.$/);
    expect(await files()).toEqual(before);
  });

  test("is listed unless a configuration has it or Quarterdeck itself wrote it", async () => {
    const list = async (prefix: string) =>
      (
        await service.json<ImportableFiles>(
          "GET",
          `/api/storage-providers/1/files?prefix=${prefix}`,
        )
      ).body;
    const { files, is_complete: isComplete } = await list("");
    expect(isComplete).toBe(true);
    const names = files.map(({ path }) => path);
    expect(names).toContain("brought/laravel.dump");
    expect(names.filter((name) => !name.startsWith("brought/"))).toEqual([]);
    const [found] = (await list("brought/laravel.d")).files;
    expect(found).toEqual({
      path: "brought/laravel.dump",
      size: (await stat(join(brought, "laravel.dump"))).size,
    });
  });

  test("that can't be imported is refused with a message, and leaves nothing", async () => {
    const plain = (await read("laravel.sql")).toString();
    const dumped = (await read("blog.sql")).toString();
    const exported = await foreign("shop.phpmyadmin");
    const changed = (text: string, from: string | RegExp, to: string) => {
      const result = text.replace(from, to);
      expect(result).not.toBe(text);
      return result;
    };
    const tar = gunzipSync(await read("site.tar.gz"));
    await run("tar", [
      "cPf",
      join(brought, "absolute.tar"),
      join(service.folder, "old/public/index.php"),
    ]);
    await run("tar", [
      "cPf",
      join(brought, "outside.tar"),
      "-C",
      join(service.folder, "old/public"),
      "../public/index.php",
    ]);
    await run("tar", [
      "cf",
      join(brought, "behind.tar"),
      "-C",
      join(service.folder, "old"),
      "index",
      "--transform=s,public,index,",
      "public/index.php",
    ]);
    const marker = join(service.folder, "ran");
    await toFile("in-tar.dump", pgDump("laravel", "--format=tar"));
    const copy = "COPY public.users";
    const files: [Kind, number, string, Buffer | string | null, RegExp][] = [
      [
        "database",
        4,
        "shell.sql",
        changed(plain, copy, `\\! touch ${marker}\n${copy}`),
        /^Line \d+ has a command to psql, “\\! touch/,
      ],
      [
        "database",
        4,
        "hidden.sql",
        changed(plain, copy, `/* it's */ SELECT $a$ '$a$ \\! touch ${marker}\n;${copy}`),
        /has a command to psql/,
      ],
      [
        "database",
        4,
        "off.sql",
        changed(plain, "standard_conforming_strings = on", "standard_conforming_strings = off"),
        /standard_conforming_strings off.* load the file into an empty database with psql/,
      ],
      [
        "database",
        4,
        "off-in-words.sql",
        changed(
          plain,
          "standard_conforming_strings = on",
          "standard_conforming_strings = off /* on */",
        ),
        /standard_conforming_strings off/,
      ],
      [
        "database",
        4,
        "two-in-one.sql",
        changed(
          plain,
          copy,
          `CREATE FUNCTION begin() RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE TABLE x (); END;\n${copy}`,
        ),
        /multiple commands/,
      ],
      [
        "database",
        4,
        "program.sql",
        changed(plain, copy, `COPY public.users FROM PROGRAM 'touch ${marker}';\n${copy}`),
        /runs a program/,
      ],
      [
        "database",
        4,
        "file.sql",
        changed(plain, copy, `copy /* x */ public.users (name) from '/etc/passwd';\n${copy}`),
        /reads or writes a file/,
      ],
      [
        "database",
        4,
        "created.sql",
        changed(plain, copy, `CREATE DATABASE x;\n\\connect x\nDROP DATABASE "y";\n${copy}`),
        /about the database “y”, and the file has “x” before it/,
      ],
      [
        "database",
        4,
        "entered.sql",
        changed(plain, copy, `CREATE DATABASE x;\n\\connect y\n${copy}`),
        /has a command to psql, “\\connect y”/,
      ],
      [
        "database",
        4,
        "role.sql",
        changed(plain, copy, `ALTER ROLE shop SUPERUSER;\n${copy}`),
        /accounts/,
      ],
      [
        "database",
        4,
        "wrong.sql",
        changed(plain, copy, `SELEC 1;\n${copy}`),
        /PostgreSQL refuses line \d+: syntax error/,
      ],
      ["database", 4, "cut.sql", plain.slice(0, plain.lastIndexOf(";") + 1), /cut off/],
      [
        "database",
        4,
        "cut.dump",
        (await read("laravel.dump")).subarray(0, -2000),
        /cut off or damaged\. Copy it again|isn't a complete/,
      ],
      [
        "database",
        4,
        "cut.sql.gz",
        gzipSync(plain).subarray(0, -20),
        /is cut off: its gzip compression isn't whole\. Copy it again/,
      ],
      [
        "database",
        4,
        "mine.sql",
        dumped,
        /is SQL text of mysqldump or mariadb-dump\. A backup of shop-pg needs a dump of pg_dump/,
      ],
      ["database", 5, "theirs.sql", plain, /is SQL text of pg_dump\. A backup of shop-my needs/],
      [
        "database",
        5,
        "two.sql",
        changed(dumped, "INSERT INTO", "USE `blog`;\nUSE `other`;\nINSERT INTO"),
        /“other”, and the file has “blog” before it/,
      ],
      [
        "database",
        5,
        "beside.sql",
        changed(dumped, "INSERT INTO", "DROP TABLE `blog`.`posts`;\nINSERT INTO"),
        /names the database “blog”/,
      ],
      [
        "database",
        5,
        "grant.sql",
        changed(dumped, "INSERT INTO", "/*!40000 GRANT ALL ON *.* TO x */;\nINSERT INTO"),
        /accounts/,
      ],
      [
        "database",
        5,
        "gbk.my.sql",
        Buffer.from(
          changed(
            dumped,
            "INSERT INTO",
            "SET NAMES gbk;\nCREATE TABLE t (a text);\nINSERT INTO t VALUES ('\u00bf\\'); CREATE DATABASE hacked; -- ');\nINSERT INTO",
          ),
          "latin1",
        ),
        /sets the character set GBK, .*--default-character-set=utf8mb4/,
      ],
      [
        "database",
        5,
        "cut.my.sql",
        dumped.slice(0, dumped.lastIndexOf("-- Dump completed")),
        /end mark .*: it is cut off, or was made with --skip-comments.* load it into an empty database/,
      ],
      [
        "database",
        5,
        "said.my.sql",
        `mysqldump: [Warning] Using a password can be insecure.\n${dumped}`,
        /^Line 1, “mysqldump: \[Warning\] Using.*2>&1 writes into a file, have to be removed/,
      ],
      [
        "database",
        5,
        "rows.my.sql",
        dumped.replaceAll(/^CREATE TABLE [^;]*;$/gm, ""),
        /^Line \d+ fills the table \S+, which the file doesn't make.*--no-create-info/,
      ],
      [
        "database",
        5,
        "phpmyadmin.sql",
        changed(exported, /\/\*!40101 SET COLLATION_CONNECTION=.*\n/, ""),
        /doesn't end as exports of phpMyAdmin do: it is cut off/,
      ],
      [
        "database",
        5,
        "refused.sql",
        changed(exported, "INSERT INTO `legacy`", "INSERT INTO `files` (nowhere) VALUES (1);\n$&"),
        /The file couldn't be loaded: .*Unknown column 'nowhere'/,
      ],
      [
        "database",
        5,
        "bare.sql",
        exported.replaceAll(/^--.*\n/gm, ""),
        /by phpMyAdmin without its comments/,
      ],
      [
        "database",
        5,
        "canceled.sql",
        "-- ----\n-- HeidiSQL Versión:             12.3.0.6589\n\nCREATE TABLE a (n INT);\n/*!40111 SET SQL_NOTES=IFNULL(@OLD_SQL_NOTES, 1) */;\n",
        /is SQL text of HeidiSQL\. Its end is the same after an export that was canceled/,
      ],
      [
        "database",
        4,
        "in-tar.dump",
        await read("in-tar.dump"),
        /a pg_dump archive in tar format\. .*pg_restore --file=FILE\.sql FILE/,
      ],
      [
        "database",
        4,
        "folder.tar",
        tar,
        /is a tar archive\. A backup of shop-pg needs a dump of pg_dump.* --format=directory.*pg_restore --file=FILE\.sql FOLDER/,
      ],
      [
        "database",
        1,
        "cut.sqlite",
        (await read("media.bin")).subarray(0, -4096),
        /^The file: database disk image is malformed\. It is damaged\.$/,
      ],
      [
        "database",
        1,
        "text.sqlite",
        "SQLite format 3\0 and then nothing",
        /not a database|malformed|damaged/,
      ],
      [
        "database",
        1,
        "site.tar",
        tar,
        /is a tar archive\. A backup of orders needs a SQLite database file/,
      ],
      ["site", 1, "absolute.tar", null, /absolute path/],
      ["site", 1, "outside.tar", null, /leads outside by “\.\.”/],
      ["site", 1, "behind.tar", null, /behind the symbolic link index/],
      ["site", 1, "cut.tar", tar.subarray(0, 2048), /cut off/],
      ["site", 1, "x.age", "age-encryption.org/v1\n", /encrypted by age\. .*age --decrypt/],
      ["site", 1, "empty", "", /empty file/],
      ["site", 1, "x.xz", Buffer.from("fd377a585a0000", "hex"), /cut off or damaged: xz couldn't/],
      [
        "site",
        1,
        "x.bz2",
        Buffer.concat([Buffer.from("BZh91AY&SY", "latin1"), tar.subarray(0, 600)]),
        /cut off or damaged: bzip2 couldn't/,
      ],
    ];
    // Cases that are refused like others, or that the tests of the lexer cover.
    const alike = new Set([
      "entered.sql",
      "empty",
      "mine.sql",
      "cut.sql.gz",
      "two.sql",
      "hidden.sql",
      "off-in-words.sql",
      "role.sql",
      "theirs.sql",
      "grant.sql",
      "site.tar",
      "outside.tar",
      "x.bz2",
    ]);
    const before = await storedOf(join(service.folder, "copies"));
    const tried = files.filter(([, , name]) => isLongForm || !alike.has(name));
    const asked = await Promise.all(
      tried.map(async ([kind, id, name, content, words]) => {
        if (content !== null) await put(name, content);
        const { body } = await ask(kind, id, name);
        return { name, id: body.id, words };
      }),
    );
    for (const { name, id, words } of asked) {
      const { status, status_reason: reason } = await service.ended(id);
      expect(`${name}: ${status}`).toBe(`${name}: failed`);
      expect(reason, name).toMatch(words);
    }
    await soon(async () => expect(await storedOf(join(service.folder, "copies"))).toEqual(before));
    expect(await scratchDatabases()).toEqual([]);
    await expect(stat(marker)).rejects.toThrow(/ENOENT/);
    const { body: activity } = await service.json<{ data: { action: string }[] }>(
      "GET",
      "/api/activity?kind=backup",
    );
    expect(activity.data.map(({ action }) => action)).toContain("import failed");
  });

  test("with random changes is either imported or refused", async () => {
    const sources = ["laravel.sql", "laravel.dump", "blog.sql", "media.bin", "site.tar.gz"];
    const targets: [Kind, number][] = [
      ["database", 4],
      ["database", 4],
      ["database", 5],
      ["database", 1],
      ["site", 1],
    ];
    const mutations = isLongForm ? 40 : 5;
    let seed = 7;
    const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
    const ids: number[] = [];
    for (let n = 0; n < mutations; n += 1) {
      const bytes = await read(sources[n % 5] ?? "");
      for (let change = 0; change < 3; change += 1) bytes[random(bytes.length)] = random(256);
      const cut = n % 2 === 0 ? bytes : bytes.subarray(0, random(bytes.length));
      await put(`mutated-${n}`, cut);
      const [kind, id] = targets[n % 5] ?? ["site", 1];
      ids.push((await ask(kind, id, `mutated-${n}`)).body.id);
    }
    for (const id of ids) {
      const { status, status_reason: reason } = await service.ended(id);
      expect(["finished", "failed"]).toContain(status);
      expect(reason ?? "").not.toMatch(/Unexpected error/);
    }
    expect(await scratchDatabases()).toEqual([]);
  });

  test("for a superuser is imported with a warning, and for any other account without one", async () => {
    const warned = "shop-root: the account postgres is a superuser of PostgreSQL";
    for (const file of isLongForm ? ["laravel.sql", "laravel.dump"] : ["laravel.dump"]) {
      const { status, output } = await imported("database", 6, file);
      expect(status, output).toBe("finished");
      expect(output.split(warned)).toHaveLength(2);
    }
  });

  test("is requested with an existing path in an existing storage, by a token for all servers", async () => {
    const at = "/api/database/1/import";
    const errors = (body: object) => service.errorsOf("POST", at, body);
    expect(await errors({})).toEqual({
      storage_provider_id: [expect.stringMatching(/required/)],
      path: [expect.stringMatching(/required/)],
    });
    expect(await errors({ storage_provider_id: 99, path: "../x" })).toEqual({
      storage_provider_id: [expect.stringMatching(/invalid/)],
      path: [expect.stringMatching(/relative path/)],
    });
    await run("ln", ["-sf", "/etc/passwd", join(brought, "link")]);
    for (const path of ["brought/missing", "brought/link", "brought"])
      expect(await errors({ storage_provider_id: 1, path })).toEqual({
        path: [expect.stringMatching(/no file of this path/)],
      });
    const token = (
      await service.json<{ token: string }>("POST", "/api/tokens", {
        name: "t",
        abilities: ["*"],
        server_ids: [1],
      })
    ).body.token;
    const picked = { storage_provider_id: 1, path: "brought/media.bin" };
    expect((await service.call("POST", at, picked, token)).status).toBe(403);
    expect(
      (await service.call("GET", "/api/storage-providers/1/files", undefined, token)).status,
    ).toBe(403);
  });

  test("whose import is canceled or killed leaves no scratch database and no running row", async () => {
    const plain = (await read("laravel.sql")).toString();
    await put(
      "slow.sql",
      plain.replace("COPY public.users", "SELECT pg_sleep(60);\nCOPY public.users"),
    );
    const { body: slow } = await ask("database", 4, "slow.sql");
    await soon(async () => expect(await scratchDatabases()).toHaveLength(1));
    expect((await service.json("GET", "/api/overview")).body).toMatchObject({
      running: [{ kind: "import", backup_id: slow.id }],
    });
    expect((await service.call("POST", `/api/backup/${slow.id}/cancel`)).status).toBe(202);
    expect((await service.ended(slow.id)).status_reason).toMatch(
      /^Canceled by .* Nothing was stored\.$/,
    );
    expect(await scratchDatabases()).toEqual([]);

    const [row] = await service.query<{ id: number }>(
      `insert into backups (configuration_id, storage_provider_id, trigger, status, path)
       values (${slow.configuration_id}, 1, 'import', 'running', 'cut/1.dump.zst') returning id`,
    );
    const { id } = row ?? expect.fail("no row");
    const [own] = await service.query<{ tag: string }>(
      "select 'i' || left(value, 8) as tag from settings where key = 'installation'",
    );
    await postgres.createDatabase(`quarterdeck_drill_${id}_${own?.tag}`, "shop");
    await mkdir(join(service.folder, "copies/cut"));
    for (const name of ["1.upload", "1.dump.zst.partial"])
      await writeFile(join(service.folder, "copies/cut", name), "x");
    // The state after a kill: a task that has begun, but has no runner.
    const file = {
      storage_provider_id: 1,
      path: "cut/1.upload",
      size: 1,
      name: "a file",
      upload: { checksum: "", is_sealed: false },
    };
    const task = { backup_id: id, kind: "import", skip_safety_backup: false, file };
    await service.query(
      "insert into pgboss.job (name, policy, singleton_key, state, data) values ($1, $2, '1', 'created', $3)",
      [
        backupTaskQueue,
        serialQueueOptions.policy,
        JSON.stringify({ ...task, begun_at: "2026-01-01T00:00:00Z" }),
      ],
    );
    expect((await service.ended(id)).status_reason).toMatch(/^Interrupted/);
    expect(await scratchDatabases()).toEqual([]);
    await soon(() => expect(stat(join(service.folder, "copies/cut"))).rejects.toThrow(/ENOENT/));
  });
});

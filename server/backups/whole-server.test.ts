// All databases of a PostgreSQL server as one backup, through the whole service.
import { join } from "node:path";
import { execFile } from "node:child_process";
import { readdir, readFile, rm } from "node:fs/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Adoption } from "../../contract/backups/adoption.ts";
import type { Backup, BackupConfiguration } from "../../contract/backups/backup.ts";
import type { BackupContents, CurrentContents } from "../../contract/backups/contents.ts";
import type { Database } from "../../contract/servers.ts";
import { copyStorage } from "../storage/testing/stored-files.ts";
import { makeMemoryFolder } from "../testing/memory-folder.ts";
import { recoveryName } from "./recovery-page.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "./testing/postgres-server.ts";

const execute = promisify(execFile);
const shop = 'shop\'s "new" = $1';
const whole = 10;
const single = 11;

describe.skipIf(!hasPostgresServer)("a whole PostgreSQL server", () => {
  let postgres: PostgresServer;
  let service: BackupTestService;
  let backup: Backup;
  beforeAll(async () => {
    postgres = await startPostgresServer();
    await postgres.query("postgres", "create role app login password 'x'");
    await postgres.createDatabase(shop, "app");
    await postgres.createDatabase("blog");
    await postgres.createDatabase("staging");
    await postgres.query(
      shop,
      "set role app; create table orders (id int primary key); insert into orders select generate_series(1, 50); create table notes as select 'kept' as note",
    );
    await postgres.query("blog", "create table posts as select 'first' as title");
    service = await createBackupTestService(
      { secrets: { DB1: postgres.url("postgres"), STAGING: postgres.url("staging") } },
      {
        databases: () => `
  - { id: ${whole}, server: 1, name: db-1, engine: postgres, url: env:DB1, scope: server }
  - { id: ${single}, server: 1, name: staging, engine: postgres, url: env:STAGING }`,
      },
    );
    backup = await backUp(whole);
  });
  afterAll(async () => {
    await service?.close();
    await postgres?.stop();
  });

  const backUp = async (id: number): Promise<Backup> => {
    const configuration = await service.installed({ backupable_id: id });
    const made = await service.run(configuration.id);
    expect(made.status, made.output).toBe("finished");
    return made;
  };
  const into = (id: number) => `/api/database/${id}/restore`;
  const restoreInto = async (
    id: number,
    body: { backup_id: number; [field: string]: unknown },
  ): Promise<Backup> => {
    const answer = await service.json("POST", into(id), body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(202);
    return service.restored(body.backup_id, "finished");
  };
  const orders = async (database: string) =>
    (await postgres.query<{ n: string }>(database, "select count(*) as n from orders"))[0]?.n;

  test("is backed up as one thing, drilled, looked into, and restored as a whole", async () => {
    expect((await service.files()).filter((name) => name.endsWith(".server.tar.zst"))).toHaveLength(
      1,
    );
    const { body: contents } = await service.json<BackupContents>(
      "GET",
      `/api/backup/${backup.id}/contents`,
    );
    expect(contents).toMatchObject({ engine: "postgres-server", entries: null });
    expect(contents.databases?.map(({ name }) => name)).toEqual([
      "blog",
      "postgres",
      shop,
      "staging",
    ]);
    expect(contents.databases?.[2]?.tables).toEqual([
      { name: "public.notes", rows: 1 },
      { name: "public.orders", rows: 50 },
    ]);
    const now = await service.json<CurrentContents>("GET", `/api/database/${whole}/contents`);
    expect(now.body).toMatchObject({ is_empty: false, tables: contents.tables, problem: null });
    const listed = await service.json<{ data: Database[] }>("GET", "/api/server/1/databases");
    expect(listed.body.data.flatMap(({ id, scope }) => (id >= whole ? [[id, scope]] : []))).toEqual(
      expect.arrayContaining([
        [whole, "server"],
        [single, "database"],
      ]),
    );
    await service.call("POST", `/api/backup/${backup.id}/drill`);
    await soon(async () => {
      const { drill_status: status, drill_output: output } = await service.backup(backup.id);
      expect(status, output ?? "").toBe("finished");
      expect(output).toContain("4 databases restored, one after the other.");
    });
    await postgres.query(shop, "delete from orders; create table later ()");
    await postgres.query("postgres", "drop database blog");
    await service.call("PUT", `/api/backup/${backup.id}`);
    const restored = await service.restored(backup.id, "finished");
    expect(restored.restore_output).toMatch(/Current data saved as backup \d+/);
    expect(await orders(shop)).toBe("50");
    expect(await postgres.query("blog", "select title from posts")).toEqual([{ title: "first" }]);
  });

  test("gives one of its databases back: in its place, as a new one, into an entry, or one table of it", async () => {
    const body = { backup_id: backup.id, from_database: shop };
    await postgres.query(shop, "delete from orders");
    await postgres.query("blog", "update posts set title = 'newer'");
    const replaced = await restoreInto(whole, body);
    expect(replaced.restore_output).toContain(`Restoring ${shop} in db-1 alone.`);
    expect(replaced.restore_target).toMatchObject({ safety_backup_id: expect.any(Number) });
    expect(await orders(shop)).toBe("50");
    expect(await postgres.query("blog", "select title from posts")).toEqual([{ title: "newer" }]);

    await restoreInto(whole, { ...body, database: "shop_copy" });
    expect(await orders("shop_copy")).toBe("50");
    expect(
      await postgres.query(
        "shop_copy",
        "select tableowner from pg_tables where tablename = 'orders'",
      ),
    ).toEqual([{ tableowner: "app" }]);
    await restoreInto(single, { ...body, skip_safety_backup: true });
    expect(await orders("staging")).toBe("50");
    await postgres.query("staging", "delete from orders; update notes set note = 'own'");
    await restoreInto(single, { ...body, tables: ["public.orders"], skip_safety_backup: true });
    expect(await orders("staging")).toBe("50");
    expect(await postgres.query("staging", "select note from notes")).toEqual([{ note: "own" }]);
    await postgres.query("postgres", "drop database shop_copy");
    await postgres.query(shop, "delete from orders");
    const table = { tables: ["public.orders"], skip_safety_backup: true };
    const { restore_output: output } = await restoreInto(whole, { ...body, ...table });
    expect(output).toContain(`Restoring ${shop}.public.orders in db-1 alone.`);
    expect(await orders(shop)).toBe("50");
    expect(await service.errorsOf("POST", into(whole), { backup_id: backup.id, ...table })).toEqual(
      {
        tables: [expect.stringContaining("Choose the one that the tables are of.")],
      },
    );
  });

  test("is not taken for a single database, nor the other way around", async () => {
    const other = await backUp(single);
    const errors = (id: number, body: object) => service.errorsOf("POST", into(id), body);
    const choose = ["The backup holds all databases of a server. Choose one of them."];
    expect(await errors(single, { backup_id: backup.id })).toEqual({ from_database: choose });
    expect(await errors(whole, { backup_id: backup.id, database: "x" })).toEqual({
      from_database: choose,
    });
    expect(await errors(whole, { backup_id: backup.id, from_database: "nowhere" })).toEqual({
      from_database: ["The backup holds no database of this name."],
    });
    expect(await errors(whole, { backup_id: backup.id, keep_owners: false })).toEqual({
      keep_owners: ["A whole server is restored with its roles, so owners stay."],
    });
    expect(await errors(1, { backup_id: backup.id, from_database: shop })).toEqual({
      backup_id: ["The backup is of a whole PostgreSQL server, and orders is a SQLite database."],
    });
    expect(await errors(single, { backup_id: other.id, from_database: "staging" })).toEqual({
      from_database: ["The backup holds one database or folder, not those of a server."],
    });
    expect(await errors(whole, { backup_id: other.id })).toEqual({
      backup_id: ["The backup is of a PostgreSQL database, and db-1 is a whole PostgreSQL server."],
    });
    // Beside the others it can be made.
    await restoreInto(whole, { backup_id: other.id, database: "staging_copy" });
    await postgres.query("postgres", "drop database staging_copy");
    for (const engine of ["mysql", "sqlite"])
      expect(
        await service.errorsOf("POST", "/api/inventory/databases", {
          server: 1,
          name: "x",
          engine,
          scope: "server",
          ...(engine === "mysql" ? { url: "env:X" } : { path: "/x" }),
        }),
      ).toEqual({
        scope: [
          "Only PostgreSQL can be backed up as a whole server. Add each database as an entry.",
        ],
      });
  });

  test("is restored on an empty machine by what RECOVERY.md says", async () => {
    const copies = join(service.folder, "copies");
    const pageOf = async () => readFile(join(copies, recoveryName), "utf8");
    await soon(async () => expect(await pageOf()).toContain("### db-1 (PostgreSQL server)"));
    const copy = await makeMemoryFolder("quarterdeck-recovery-");
    const empty = await startPostgresServer();
    try {
      await copyStorage(copies, copy);
      const section = (await pageOf()).split("### ").find((text) => text.startsWith("db-1")) ?? "";
      const commands = /```sh\n([\s\S]*?)```/.exec(section)?.[1] ?? "";
      const { hostname, port, username, password } = new URL(empty.url("postgres"));
      await execute("bash", ["-e", "-o", "pipefail", "-c", commands], {
        cwd: copy,
        env: {
          PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
          // Where the test has its server; on a machine of its own it is where the programs look.
          PGHOST: hostname,
          PGPORT: port,
          PGUSER: username,
          PGPASSWORD: decodeURIComponent(password),
        },
      });
      const owners =
        "select tablename, tableowner from pg_tables where schemaname = 'public' order by 1";
      for (const name of [shop, "blog"])
        expect(await empty.query(name, owners)).toEqual(await postgres.query(name, owners));
      expect(await empty.query(shop, "select count(*)::int as n from orders")).toEqual([{ n: 50 }]);
      expect(await readdir(copy)).toContain("db-1.server");
    } finally {
      await empty.stop();
      await rm(copy, { recursive: true, force: true });
    }
  });

  test("is found in its storage when it is listed no more, and goes back to the entry of the server", async () => {
    const { configuration_id: id } = backup;
    await service.call("DELETE", `/api/backup-configuration/${id}`);
    await service.becomesGone(`/api/backup-configuration/${id}`);
    const { status, body } = await service.json<Adoption>(
      "POST",
      "/api/inventory/storage-providers/1/adoption",
    );
    expect(status, JSON.stringify(body)).toBe(200);
    const adopted = body.sources.find(({ engine }) => engine === "postgres-server");
    expect(adopted).toMatchObject({ name: "db-1", target: { id: whole }, problem: null });
    const { body: shown } = await service.json<BackupConfiguration>(
      "GET",
      `/api/backup-configuration/${adopted?.configuration_id}`,
    );
    const { body: contents } = await service.json<BackupContents>(
      "GET",
      `/api/backup/${shown.last_backup?.id}/contents`,
    );
    expect(contents.databases?.map(({ name }) => name)).toContain(shop);
  });
});

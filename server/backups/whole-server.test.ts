// Tests backups of all databases of a server, through the whole service.
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
import { recoveryName } from "./recovery/recovery-page.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";
import { serverKinds, type DatabaseServer } from "./testing/database-servers.ts";
import { isRoot } from "../testing/machine.ts";
import { isLongForm, inLongForm } from "../testing/long-form.ts";
import { ownUser } from "../testing/own-user.ts";

const execute = promisify(execFile);
const shop = 'shop\'s "new" = $1';
const whole = 10;
const single = 11;
const hookUser = isRoot ? "nobody" : ownUser;
const hooks = `{ before: [sh, -c, id -un], after: [sh, -c, echo afterwards], user: ${hookUser} }`;
const betweenHooks = new RegExp(
  `Before the backup: sh -c id -un\\n  ${hookUser}\\n[^]*After the backup: sh -c echo afterwards\\n  afterwards\\n`,
);

describe.each(serverKinds)("a whole $name server", (kind) => {
  const { engine, words } = kind;
  const table = kind.tableIn;
  let server: DatabaseServer;
  let service: BackupTestService;
  let backup: Backup;
  beforeAll(async () => {
    server = await kind.start();
    await server.sql(null, kind.makesAccount);
    for (const name of [shop, "blog"]) await server.createDatabase(name, "app");
    await server.sql(shop, kind.makesOrders);
    await server.sql(shop, "create table notes as select 'kept' as note");
    await server.sql("blog", "create table posts as select 'first' as title");
    service = await createBackupTestService(
      { secrets: { DB1: server.url(kind.ownDatabases[0] ?? ""), BLOG: server.url("blog") } },
      {
        databases: () => `
  - { id: ${whole}, server: 1, name: db-1, engine: ${engine}, url: env:DB1, scope: server, backup_hooks: ${hooks} }
  - { id: ${single}, server: 1, name: blog, engine: ${engine}, url: env:BLOG, backup_hooks: ${hooks} }`,
      },
    );
    backup = await backUp(whole);
  });
  afterAll(async () => {
    await service?.close();
    await server?.stop();
  });

  const backUp = async (id: number): Promise<Backup> => {
    const configuration = await service.installed({ backupable_id: id });
    const made = await service.run(configuration.id);
    expect(made.status, made.output).toBe("finished");
    // The output of backups of a database and of a whole server.
    expect(made.output).toMatch(betweenHooks);
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
  const orders = (database: string) => server.sql(database, "select count(*) from orders");
  const notes = (database: string) => server.sql(database, "select note from notes");

  // The commands for PostgreSQL switch to its account.
  const mayRun = isRoot || engine !== "postgres";
  test.skipIf(!mayRun)("is restored on an empty machine by RECOVERY.md", async () => {
    const copies = join(service.folder, "copies");
    const pageOf = async () => readFile(join(copies, recoveryName), "utf8");
    await soon(async () => expect(await pageOf()).toContain(`### db-1 (${words} server)`));
    const copy = await makeMemoryFolder("quarterdeck-recovery-");
    const owners = () =>
      Promise.all([shop, "blog"].map((name) => server.sql(name, kind.ownersOf(name))));
    const before = await owners();
    try {
      await copyStorage(copies, copy);
      const section = (await pageOf()).split("### ").find((text) => text.startsWith("db-1")) ?? "";
      const commands = /```sh\n([\s\S]*?)```/.exec(section)?.[1] ?? "";
      // Empties the server, which is faster than starting another one.
      for (const statement of kind.forgets([shop, "blog"])) await server.sql(null, statement);
      await execute("bash", ["-e", "-o", "pipefail", "-c", commands], {
        cwd: copy,
        env: {
          PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
          HOME: copy,
          // Address of the test's server; normally the programs use their defaults.
          ...(await server.connection(copy)),
        },
      });
      expect(await owners()).toEqual(before);
      expect(await orders(shop)).toBe("50");
      expect(await notes(shop)).toBe("kept");
      expect(await readdir(copy)).toContain("db-1.server");
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  });

  // The service treats all kinds of servers alike; the tests of the sources cover the differences.
  if (!isLongForm && kind !== serverKinds[0]) return;

  test("is backed up as one unit, drilled, browsed, and restored as a whole", async () => {
    const files = await service.files();
    expect(files.filter((name) => name.endsWith(`.${kind.extension}.zst`))).toHaveLength(1);
    const { body: contents } = await service.json<BackupContents>(
      "GET",
      `/api/backup/${backup.id}/contents`,
    );
    expect(contents).toMatchObject({ engine: `${engine}-server`, entries: null });
    const databases = ["blog", ...kind.ownDatabases, shop];
    expect(contents.databases?.map(({ name }) => name)).toEqual(databases);
    expect(contents.databases?.find(({ name }) => name === shop)?.tables).toEqual([
      { name: table("notes"), rows: 1 },
      { name: table("orders"), rows: 50 },
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
    const { drill_output: drilled } = await service.drilled(backup.id);
    expect(drilled).toContain(`${databases.length} databases restored, one after the other.`);
    await server.sql(shop, "delete from orders; create table later (id int)");
    await server.sql(null, "drop database blog");
    // Without a safety backup, which the next test covers.
    await service.call("PUT", `/api/backup/${backup.id}`, { skip_safety_backup: true });
    await service.restored(backup.id, "finished");
    expect(await orders(shop)).toBe("50");
    expect(await server.sql("blog", "select title from posts")).toBe("first");
  });

  test("restores one of its databases: in its place, as a new one, into an entry, or one table of it", async () => {
    const body = { backup_id: backup.id, from_database: shop };
    await server.sql(shop, "delete from orders");
    await server.sql("blog", "update posts set title = 'newer'");
    const replaced = await restoreInto(whole, body);
    expect(replaced.restore_output).toContain(`Restoring ${shop} in db-1 alone.`);
    expect(replaced.restore_output).toMatch(/Current data saved as backup \d+/);
    expect(replaced.restore_target).toMatchObject({ safety_backup_id: expect.any(Number) });
    expect(await orders(shop)).toBe("50");
    expect(await server.sql("blog", "select title from posts")).toBe("newer");

    await restoreInto(whole, { ...body, database: "shop_copy" });
    expect(await orders("shop_copy")).toBe("50");
    expect(await server.sql("shop_copy", kind.ownersOf("shop_copy"))).toBe(kind.owners);
    await restoreInto(single, { ...body, skip_safety_backup: true });
    expect(await orders("blog")).toBe("50");
    await server.sql("blog", "delete from orders; update notes set note = 'own'");
    const alone = { tables: [table("orders")], skip_safety_backup: true };
    await restoreInto(single, { ...body, ...alone });
    expect(await orders("blog")).toBe("50");
    expect(await notes("blog")).toBe("own");
    await server.sql(null, "drop database shop_copy");
    await server.sql(shop, "delete from orders");
    const { restore_output: output } = await restoreInto(whole, { ...body, ...alone });
    expect(output).toContain(`Restoring ${shop}.${table("orders")} in db-1 alone.`);
    expect(await orders(shop)).toBe("50");
    expect(await service.errorsOf("POST", into(whole), { backup_id: backup.id, ...alone })).toEqual(
      {
        tables: [expect.stringContaining("Choose the one that the tables are of.")],
      },
    );
  });

  inLongForm(() => {
    test("restores a database whose name is as long as the server accepts", async () => {
      const long = "n".repeat(engine === "mysql" ? 64 : 63);
      await server.createDatabase(long, "app");
      await server.sql(long, "create table posts as select 'kept' as title");
      const made = await backUp(whole);
      await server.sql(long, "update posts set title = 'lost'");
      await restoreInto(whole, {
        backup_id: made.id,
        from_database: long,
        skip_safety_backup: true,
      });
      expect(await server.sql(long, "select title from posts")).toBe("kept");
      await server.sql(null, `drop database ${long}`);
    });
  });

  inLongForm(() => {
    test("is not confused with a single database, nor the other way around", async () => {
      const other = await backUp(single);
      const errors = (id: number, body: object) => service.errorsOf("POST", into(id), body);
      const choose = ["The backup contains all databases of a server. Choose one of them."];
      expect(await errors(single, { backup_id: backup.id })).toEqual({ from_database: choose });
      expect(await errors(whole, { backup_id: backup.id, database: "x" })).toEqual({
        from_database: choose,
      });
      expect(await errors(whole, { backup_id: backup.id, from_database: "nowhere" })).toEqual({
        from_database: ["The backup contains no database of this name."],
      });
      expect(await errors(whole, { backup_id: backup.id, keep_owners: false })).toEqual({
        keep_owners: [expect.stringContaining("A whole server is restored with its")],
      });
      expect(await errors(1, { backup_id: backup.id, from_database: shop })).toEqual({
        backup_id: [`The backup is of a whole ${words} server, and orders is a SQLite database.`],
      });
      expect(await errors(single, { backup_id: other.id, from_database: "blog" })).toEqual({
        from_database: ["The backup contains one database or folder, not those of a server."],
      });
      expect(await errors(whole, { backup_id: other.id })).toEqual({
        backup_id: [`The backup is of a ${words} database, and db-1 is a whole ${words} server.`],
      });
      // The database can be created beside the others.
      await restoreInto(whole, { backup_id: other.id, database: "blog_copy" });
      await server.sql(null, "drop database blog_copy");
    });
  });

  test("refuses a backup of the whole server for a SQLite database", async () => {
    const body = { server: 1, name: "x", engine: "sqlite", scope: "server", path: "/x" };
    expect(await service.errorsOf("POST", "/api/inventory/databases", body)).toEqual({
      scope: ["A SQLite database is a file, and has no server. Add each one as an entry."],
    });
  });

  test("is found in its storage when it is no longer listed, and restored to the entry of the server", async () => {
    const { configuration_id: id } = backup;
    await service.call("DELETE", `/api/backup-configuration/${id}`);
    await service.becomesGone(`/api/backup-configuration/${id}`);
    const { status, body } = await service.json<Adoption>(
      "POST",
      "/api/inventory/storage-providers/1/adoption",
    );
    expect(status, JSON.stringify(body)).toBe(200);
    const adopted = body.sources.find((source) => source.engine === `${engine}-server`);
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

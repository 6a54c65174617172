// Tests restores into another destination than the backup's source, with the same tests for this machine and a remote server.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Activity } from "../../../contract/activity.ts";
import type { Backup } from "../../../contract/backups/backup.ts";
import type { BackupContents, CurrentContents } from "../../../contract/backups/contents.ts";
import { eachMachine } from "../../ssh/testing/remote-server.ts";
import { casesOf, isLongForm } from "../../testing/long-form.ts";
import { ownUser } from "../../testing/own-user.ts";
import {
  createBackupTestService,
  createHold,
  heldSite,
  soon,
  type BackupTestService,
} from "../testing/backup-service.ts";
import { startMariadbServer, type MariadbServer } from "../testing/mariadb-server.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../testing/postgres-server.ts";

const far = 3;
/** Ids in the inventory. */
const site = { shop: 1, copy: 4, spare: 5, held: 6 };
const databases = { orders: 1, pg: 10, pgCopy: 11, maria: 12, mariaCopy: 13, lite: 14, spare: 15 };

let postgres: PostgresServer | null = null;
/** In the long form only: the source's own tests and those of whole servers cover most of it. */
let mariadb: MariadbServer | null = null;
const nowhere = "mariadb://nobody@127.0.0.1:9/shop";
beforeAll(async () => {
  if (isLongForm) mariadb = await startMariadbServer();
  if (!hasPostgresServer) return;
  postgres = await startPostgresServer();
  await postgres.query("postgres", "create role shop; create role staging login password 'x'");
});
afterAll(async () => {
  await mariadb?.stop();
  await postgres?.stop();
});

describe.each(eachMachine())("into $machine", ({ machine, connectionOf, isWhole }) => {
  let service: BackupTestService;
  beforeAll(async () => {
    // The short form does not test PostgreSQL here.
    if (isWhole) {
      for (const name of ["shop", "staging", "shop_copy"])
        await postgres?.query("postgres", `drop database if exists ${name} with (force)`);
      await postgres?.createDatabase("shop");
      await postgres?.createDatabase("staging", "staging");
      await postgres?.query(
        "shop",
        "create table orders (id int primary key, note text); insert into orders values (1, 'ada'), (2, 'grace'); alter table orders owner to shop",
      );
    }
    await mariadb?.createDatabase("shop");
    await mariadb?.createDatabase("staging");
    await mariadb?.query(
      "shop",
      "create table orders (id int primary key, note text); insert into orders values (1, 'ada'), (2, 'grace'); create definer='nobody'@'nowhere' view first as select * from orders where id = 1",
    );
    service = await createBackupTestService(
      {
        secrets: {
          PG: postgres?.url("shop") ?? "",
          PG_COPY: postgres?.url("staging", { user: "staging", password: "x" }) ?? "",
          MARIA: mariadb?.url("shop") ?? nowhere,
          MARIA_COPY: mariadb?.url("staging") ?? nowhere,
        },
      },
      {
        servers: `  - { id: ${far}, name: far, connection: ${await connectionOf()} }`,
        databases: (home) => `
  - { id: 10, server: 1, name: pg, engine: postgres, url: env:PG }
  - { id: 11, server: ${far}, name: pg-copy, engine: postgres, url: env:PG_COPY }
  - { id: 12, server: 1, name: maria, engine: mysql, url: env:MARIA }
  - { id: 13, server: ${far}, name: maria-copy, engine: mysql, url: env:MARIA_COPY }
  - { id: 14, server: ${far}, name: lite-copy, engine: sqlite, path: ${home}/lite.sqlite, user: ${ownUser} }
  - { id: 15, server: ${far}, name: lite-spare, engine: sqlite, path: ${home}/spare.sqlite, user: ${ownUser} }`,
        sites: (home) => `
  - { id: 4, server: ${far}, name: copy, root: ${home}/copy, user: ${ownUser} }
  - { id: 5, server: ${far}, name: spare, root: ${home}/spare, user: ${ownUser} }${heldSite(home, site.held, far)}`,
      },
    );
    for (const name of ["copy", "spare"]) await mkdir(join(service.folder, name));
  });
  afterAll(async () => {
    await service?.close();
    for (const name of ["shop", "staging", "shop_copy"])
      await mariadb?.query(null, `drop database if exists ${name}`);
  });

  const lite = (name: string, statement: string) => {
    const database = new DatabaseSync(join(service.folder, name));
    try {
      return database.prepare(statement).all();
    } finally {
      database.close();
    }
  };
  const into = (path: string, body: object) => service.call("POST", `/api/${path}/restore`, body);
  const restoreInto = async (
    path: string,
    body: { backup_id: number; [field: string]: unknown },
  ) => {
    const answer = await service.json<Backup>("POST", `/api/${path}/restore`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(202);
    return service.restored(body.backup_id, "finished");
  };
  const actionsOf = async (server: number, id: number) =>
    (await service.json<Activity>("GET", `/api/activity?server=${server}`)).body.data
      .filter(({ object }) => object?.type === "backup" && object.id === id)
      .map(({ action }) => action);
  const tokenFor = async (...servers: number[]) =>
    (
      await service.json<{ token: string }>("POST", "/api/tokens", {
        name: "narrow",
        abilities: ["*"],
        server_ids: servers,
      })
    ).body.token;

  type Engine = {
    source: Record<string, unknown>;
    target: string;
    targetBody: Record<string, unknown>;
    /** Returns what the target has of the source's content. */
    content(): Promise<unknown>;
    /** Fills the target with other content. */
    fill(): Promise<unknown>;
    full: unknown;
    filled: unknown;
  };
  const engines: Record<string, Engine> = {
    ...(hasPostgresServer && {
      PostgreSQL: {
        source: { backupable_id: databases.pg },
        target: `database/${databases.pgCopy}`,
        targetBody: { backupable_id: databases.pgCopy },
        content: async () => postgres?.query("staging", "select note from orders order by id"),
        fill: async () =>
          postgres?.query(
            "staging",
            "drop table if exists orders; set role staging; create table orders (id int, note text); insert into orders values (1, 'own')",
          ),
        full: [{ note: "ada" }, { note: "grace" }],
        filled: [{ note: "own" }],
      },
    }),
    MariaDB: {
      source: { backupable_id: databases.maria },
      target: `database/${databases.mariaCopy}`,
      targetBody: { backupable_id: databases.mariaCopy },
      content: async () => mariadb?.query("staging", "select note from orders order by id"),
      fill: async () =>
        mariadb?.query(
          "staging",
          "create or replace table orders (id int, note text); insert into orders values (1, 'own')",
        ),
      full: "ada\ngrace\n",
      filled: "own\n",
    },
    SQLite: {
      source: { backupable_id: databases.orders },
      target: `database/${databases.lite}`,
      targetBody: { backupable_id: databases.lite },
      content: async () => lite("lite.sqlite", "select customer from orders order by id"),
      async fill() {
        lite(
          "lite.sqlite",
          "create table if not exists orders (id integer primary key, customer text)",
        );
        lite("lite.sqlite", "delete from orders");
        lite("lite.sqlite", "insert into orders (customer) values ('own')");
      },
      full: [{ customer: "ada" }, { customer: "grace" }],
      filled: [{ customer: "own" }],
    },
    folder: {
      source: { backupable_type: "site", backupable_id: site.shop },
      target: `site/${site.copy}`,
      targetBody: { backupable_type: "site", backupable_id: site.copy },
      content: async () => readdir(join(service.folder, "copy")),
      async fill() {
        await rm(join(service.folder, "copy"), { recursive: true, force: true });
        await mkdir(join(service.folder, "copy"));
        await writeFile(join(service.folder, "copy/own.txt"), "own");
      },
      full: expect.arrayContaining(["index.php"]),
      filled: ["own.txt"],
    },
  };

  /** One backup of each source for all tests, because none changes a source. */
  const taken = new Map<string, Backup>();
  async function backUp(kind: string, source: Record<string, unknown>): Promise<Backup> {
    const before = taken.get(kind);
    if (before !== undefined) return before;
    const { id } = await service.installed(source);
    const backup = await service.run(id);
    expect(backup.status, backup.output).toBe("finished");
    taken.set(kind, backup);
    return backup;
  }

  /** Returns the engines for a test: what several engines have in common is tested with one here, and with another one over SSH. */
  const enginesFor = (here: readonly string[], there: readonly string[]) =>
    casesOf(engines, machine === "this machine" ? here : there);

  test.each(enginesFor(["SQLite"], []))(
    "%s: refuses to replace what no configuration backs up, unless requested",
    async (kind, { source, target, content, fill, full, filled }) => {
      await fill();
      const backup = await backUp(kind, source);
      const refused = await into(target, { backup_id: backup.id });
      expect(refused.status).toBe(409);
      expect(await refused.text()).toContain("holds data, and no backup configuration saves it");
      expect((await service.backup(backup.id)).restore_status).toBeNull();
      const now = await service.json<CurrentContents>("GET", `/api/${target}/contents`);
      expect(now.body).toMatchObject({ is_empty: false, saved_by: null, problem: null });
      expect(await content()).toEqual(filled);
      await restoreInto(target, { backup_id: backup.id, skip_safety_backup: true });
      expect(await content()).toEqual(full);
    },
  );

  test.each(enginesFor(["SQLite"], ["folder"]))(
    "%s: replaces another target, backs that up first, and the undo restores this backup",
    async (kind, { source, target, targetBody, content, fill, full, filled }) => {
      await fill();
      const own = await service.installed({ server: far, name: "Copy", ...targetBody });
      const backup = await backUp(kind, source);
      const restored = await restoreInto(target, { backup_id: backup.id });
      expect(restored.restore_output).toMatch(/^Restoring into .*copy\.$/m);
      expect(await content()).toEqual(full);
      const [type, id] = target.split("/");
      expect(restored.restore_target).toEqual({
        type,
        id: Number(id),
        name: expect.stringContaining("copy"),
        server_id: far,
        database: null,
        part: null,
        safety_backup_id: expect.any(Number),
      });
      expect(await actionsOf(1, backup.id)).toContain("asked to restore");
      expect(await actionsOf(far, backup.id)).toContain("restored");

      // The safety backup belongs to the target, so restoring it changes the target.
      const safety = (await service.show(own.id)).backups[0];
      expect(safety?.id).toBe(restored.restore_target?.safety_backup_id);
      expect(safety).toMatchObject({ trigger: "safety", status: "finished" });
      expect((await service.show(backup.configuration_id ?? 0)).backups).toHaveLength(1);
      await service.call("PUT", `/api/backup/${safety?.id}`);
      await service.restored(safety?.id ?? 0, "finished");
      expect(await content()).toEqual(filled);
      await service.call("DELETE", `/api/backup-configuration/${own.id}`);
    },
  );

  test.each(enginesFor(["PostgreSQL"], []))(
    "%s: leaves the target unchanged if the stored file is damaged",
    async (kind, { source, target, content, fill, filled }) => {
      await fill();
      const backup = await backUp(kind, source);
      const path = join(service.folder, "copies", backup.path);
      const file = await readFile(path);
      const damaged = Buffer.from(file);
      damaged[file.length >> 1] = (file[file.length >> 1] ?? 0) ^ 1;
      await writeFile(path, damaged);
      await into(target, { backup_id: backup.id, skip_safety_backup: true });
      const failed = await service.restored(backup.id, "failed");
      expect(failed.restore_output).toMatch(/Checksum mismatch/);
      expect(await content()).toEqual(filled);
      await writeFile(path, file);
    },
  );

  if (!isWhole) return;

  test.each([
    ...(hasPostgresServer ? [["PostgreSQL", databases.pg] as const] : []),
    ...(isLongForm ? [["MariaDB", databases.maria] as const] : []),
  ])("%s: creates a new database on the same server, once", async (kind, source) => {
    const backup = await backUp(kind, { backupable_id: source });
    const asked = { backup_id: backup.id, database: "shop_copy" };
    const restored = await restoreInto(`database/${source}`, asked);
    expect(restored.restore_target).toMatchObject({ id: source, database: "shop_copy" });
    expect(restored.restore_output).toMatch(/^Restoring into the new database shop_copy/m);
    const count = "select count(*) as n from orders";
    expect(
      kind === "MariaDB"
        ? await mariadb?.query("shop_copy", count)
        : await postgres?.query(
            "shop_copy",
            "select tableowner, (select count(*)::int from orders) as n from pg_tables where tablename = 'orders'",
          ),
    ).toEqual(kind === "MariaDB" ? "2\n" : [{ tableowner: "shop", n: 2 }]);
    const again = await into(`database/${source}`, { ...asked, skip_safety_backup: true });
    expect(again.status).toBe(409);
    expect(await again.text()).toContain("already has a database “shop_copy”");
  });

  test.runIf(hasPostgresServer)(
    "removes the newly created database when the restore fails",
    async () => {
      const backup = await backUp("PostgreSQL", { backupable_id: databases.pg });
      const asked = { backup_id: backup.id, database: "shop_failed" };
      const isThere = async () =>
        (await postgres?.query("postgres", "select from pg_database where datname = 'shop_failed'"))
          ?.length;
      await postgres?.query("postgres", "alter role staging nocreatedb");
      await into(`database/${databases.pgCopy}`, asked);
      const refused = await service.restored(backup.id, "failed");
      expect(refused.restore_output).toMatch(/may not create databases/);
      await postgres?.query("postgres", "alter role staging createdb");
      await into(`database/${databases.pgCopy}`, asked);
      await soon(async () =>
        expect((await service.backup(backup.id)).restore_output).toMatch(/belongs to another role/),
      );
      expect(await isThere()).toBe(0);
      await restoreInto(`database/${databases.pgCopy}`, { ...asked, keep_owners: false });
      expect(await isThere()).toBe(1);
      await postgres?.query("postgres", "drop database shop_failed with (force)");
    },
  );

  test("an empty or missing target needs no configuration", async () => {
    const backup = await backUp("SQLite", { backupable_id: databases.orders });
    await restoreInto(`database/${databases.spare}`, { backup_id: backup.id });
    expect(lite("spare.sqlite", "select count(*) as n from orders")).toEqual([{ n: 2 }]);
    const archive = await backUp("folder", { backupable_type: "site" });
    const now = await service.json<CurrentContents>("GET", `/api/site/${site.spare}/contents`);
    expect(now.body).toMatchObject({ is_empty: true, saved_by: null, tables: null });
    await restoreInto(`site/${site.spare}`, { backup_id: archive.id });
    expect(await readdir(join(service.folder, "spare"))).toContain("index.php");
  });

  test.runIf(hasPostgresServer)(
    "PostgreSQL: assigns owners to the account elsewhere, and to those of the backup on request",
    async () => {
      await engines["PostgreSQL"]?.fill();
      const backup = await backUp("PostgreSQL", { backupable_id: databases.pg });
      const owner = async () =>
        postgres?.query("staging", "select tableowner from pg_tables where tablename = 'orders'");
      const given = { backup_id: backup.id, skip_safety_backup: true };
      await restoreInto(`database/${databases.pgCopy}`, given);
      expect(await owner()).toEqual([{ tableowner: "staging" }]);
      await into(`database/${databases.pgCopy}`, { ...given, keep_owners: true });
      const failed = await service.restored(backup.id, "failed");
      expect(failed.restore_output).toMatch(/belongs to another role/);
      expect(await owner()).toEqual([{ tableowner: "staging" }]);
    },
  );

  test("shows the counts of the backup and of the target", async () => {
    for (const [kind, { source, target, fill }] of casesOf(engines, ["PostgreSQL", "SQLite"])) {
      if (kind === "folder") continue;
      await fill();
      const backup = await backUp(kind, source);
      const was = await service.json<BackupContents>("GET", `/api/backup/${backup.id}/contents`);
      const name = kind === "PostgreSQL" ? "public.orders" : "orders";
      expect(was.body.tables, kind).toContainEqual({ name, rows: 2 });
      const now = await service.json<CurrentContents>("GET", `/api/${target}/contents`);
      expect(now.body.tables, kind).toContainEqual({ name, rows: 1 });
    }
  });

  test("two restores never run on one target", async () => {
    const { id } = await service.installed({ backupable_type: "site" });
    // Large enough that the restore can be canceled.
    await writeFile(join(service.folder, "shop/large"), Buffer.alloc(30_000_000, "quarterdeck"));
    const [one, other] = [await service.run(id), await service.run(id)];
    // An earlier run on the target's server keeps both restores queued.
    const hold = await createHold(service, site.held, far);
    await hold.begin();
    const body = { skip_safety_backup: true };
    const statuses = await Promise.all(
      [one, other].map(
        async ({ id: backup_id }) =>
          (await into(`site/${site.copy}`, { ...body, backup_id })).status,
      ),
    );
    expect(statuses.toSorted((a, b) => a - b)).toEqual([202, 409]);
    const [begun, refused] = statuses[0] === 202 ? [one, other] : [other, one];
    // A backup can be restored only once at a time, whatever the target.
    expect((await into(`site/${site.spare}`, { ...body, backup_id: begun.id })).status).toBe(409);
    expect(await service.statusOf("PUT", `/api/backup/${begun.id}`)).toBe(409);
    expect(await service.statusOf("DELETE", `/api/backup/${begun.id}`)).toBe(409);
    await hold.letGo();
    await service.restored(begun.id, "finished");
    // A restore elsewhere does not block the source, and can be canceled like any other.
    await into(`site/${site.copy}`, { ...body, backup_id: refused.id });
    await service.call("POST", `/api/backup/${refused.id}/cancel`);
    await soon(async () =>
      expect((await service.backup(refused.id)).restore_status).not.toBe("running"),
    );
    expect(await readdir(join(service.folder, "copy"))).toContain("index.php");
    expect((await readdir(service.folder)).filter((name) => name.includes("quarterdeck-"))).toEqual(
      [],
    );
  });

  test("refuses invalid values at their fields", async () => {
    const backup = await backUp("SQLite", { backupable_id: databases.orders });
    const errors = (path: string, body: object) =>
      service.errorsOf("POST", `/api/${path}/restore`, body);
    expect(await errors(`site/${site.copy}`, { backup_id: backup.id })).toEqual({
      backup_id: ["The backup is of a SQLite database, and copy is a site's folder."],
    });
    expect(
      Object.keys(
        await errors(`database/${databases.lite}`, { backup_id: backup.id, database: "x" }),
      ),
    ).toEqual(["database"]);
    for (const database of ["a/b", "", "a".repeat(64), "x;y", "1a"])
      expect(
        await errors(`database/${databases.maria}`, { backup_id: backup.id, database }),
      ).toHaveProperty("database");
    expect(await errors(`site/${site.copy}`, {})).toHaveProperty("backup_id");
    expect(await errors(`site/${site.copy}`, { backup_id: 999_999 })).toHaveProperty("backup_id");
    expect((await into("site/999", { backup_id: backup.id })).status).toBe(404);
  });

  test("a token needs access to both servers", async () => {
    const backup = await backUp("SQLite", { backupable_id: databases.orders });
    const path = `/api/database/${databases.spare}/restore`;
    const ask = (token: string, url = path, method = "POST") =>
      service.call(method, url, method === "POST" ? { backup_id: backup.id } : undefined, token);
    expect((await ask(await tokenFor(1))).status).toBe(404);
    const there = await tokenFor(far);
    const refused = await ask(there);
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain(`Backup ${backup.id} doesn't exist.`);
    const contents = `/api/database/${databases.spare}/contents`;
    expect((await ask(await tokenFor(1), contents, "GET")).status).toBe(404);
    expect((await ask(there, contents, "GET")).status).toBe(200);
    expect((await ask(there, `/api/backup/${backup.id}/contents`, "GET")).status).toBe(404);
  });
});

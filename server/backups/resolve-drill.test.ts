// Tests drills on another machine than the source's, through the whole service.
import { existsSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backup, BackupConfiguration } from "../../contract/backups/backup.ts";
import type { Host } from "../hosts/host.ts";
import { sshEntry } from "../ssh/testing/entry.ts";
import { inLongForm } from "../testing/long-form.ts";
import { isRoot, makeFolder } from "../testing/machine.ts";
import { ownUser } from "../testing/own-user.ts";
import { createFolderDrill } from "./sources/folder/remote/drill-elsewhere.ts";
import { drillName } from "./sources/folder/remote/swap.ts";
import { createMysqlDrillOn } from "./sources/mysql/source.ts";
import { folderName } from "./sources/sqlite/remote/shell.ts";
import { createPostgresDrill } from "./sources/postgres/drill.ts";
import type { Attempt } from "./sources/source.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";
import { startMariadbServer, type MariadbServer } from "./testing/mariadb-server.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "./testing/postgres-server.ts";
import { createRemoteServer } from "../ssh/testing/remote-server.ts";

const remote = createRemoteServer();
let service: BackupTestService;
let mariadb: MariadbServer;
let postgres: { own: PostgresServer; drills: PostgresServer } | null = null;

/** Servers: one over SSH, drilled here; this machine, drilled there; and ones whose place lacks what a drill needs. */
const [far, here, bare, wrong] = [3, 4, 5, 6];
const app = { user: "app", password: "app" };
const driller = { user: "driller", password: "driller" };

const attempt: Attempt = {
  id: 770_077,
  say: () => undefined,
  signal: new AbortController().signal,
};

beforeAll(async () => {
  const sshd = await remote.sshd();
  const connection = sshEntry(sshd, undefined, userInfo().username);
  mariadb = await startMariadbServer();
  await mariadb.createDatabase("shop");
  await mariadb.query(
    "shop",
    `create table notes (id int primary key, note text); insert into notes values (1, 'one'), (2, 'two');
     create user vera; grant all on shop.* to vera;
     create definer=vera function three() returns int deterministic return 3;
     create definer=vera view numbers as select three() as x from notes;
     create user app identified by 'app'; grant select, show view, trigger, event, execute on shop.* to app; grant select on mysql.* to app;
     create user driller identified by 'driller'; grant all privileges on \`quarterdeck\\_%\`.* to driller`,
  );
  if (hasPostgresServer) {
    postgres = { own: await startPostgresServer(), drills: await startPostgresServer() };
    // The other server lacks both roles of the database, whose own server does not let its role create databases.
    await postgres.own.query(
      "postgres",
      "create role app login password 'app'; create role reader",
    );
    await postgres.own.createDatabase("shop", "app");
    await postgres.own.query(
      "shop",
      "set role app; create table notes (id int primary key, note text); insert into notes values (1, 'one'); grant select on notes to reader",
    );
    await postgres.drills.query(
      "postgres",
      "create role driller login createdb password 'driller'",
    );
  }
  const drills = {
    [far]: `{ server: local, user: ${isRoot ? "nobody" : ownUser} }`,
    [here]: `{ server: ${far}, user: ${sshd.user}, postgres: env:DRILL_POSTGRES, mysql: env:DRILL_MYSQL }`,
    [bare]: `{ server: ${far} }`,
    [wrong]: `{ server: ${far}, user: nobody-at-all, postgres: env:NOWHERE, mysql: env:MISSING }`,
  };
  service = await createBackupTestService(
    {
      secrets: {
        POSTGRES: postgres?.own.url("shop", app) ?? "",
        MARIADB: mariadb.url("shop", app),
        // A URL without the name of a database.
        DRILL_POSTGRES: postgres?.drills.url("", driller) ?? "",
        DRILL_MYSQL: mariadb.url("", driller),
        NOWHERE: "postgres://driller@127.0.0.1:9",
      },
    },
    {
      servers: `  - { id: ${far}, name: web-1, connection: ${connection}, drills: ${drills[far]} }
${[here, bare, wrong].map((id) => `  - { id: ${id}, name: s${id}, connection: local, drills: ${drills[id]} }`).join("\n")}`,
      sites: (folder) =>
        [far, here, bare, wrong]
          .map(
            (id) =>
              `  - { id: ${id}, server: ${id}, name: site${id}, root: ${folder}/shop, user: ${ownUser} }`,
          )
          .join("\n"),
      databases: (folder) =>
        [here, bare, wrong]
          .map(
            (
              id,
            ) => `  - { id: ${id}0, server: ${id}, name: pg${id}, engine: postgres, url: env:POSTGRES }
  - { id: ${id}1, server: ${id}, name: maria${id}, engine: mysql, url: env:MARIADB }
  - { id: ${id}2, server: ${id}, name: lite${id}, engine: sqlite, path: ${folder}/orders.sqlite, user: ${ownUser} }`,
          )
          .join("\n"),
    },
  );
  await mkdir(join(service.folder, "shop/sub"));
  await writeFile(join(service.folder, "shop/sub/page"), "x".repeat(10_000));
});
afterAll(async () => {
  await service?.close();
  await mariadb?.stop();
  await postgres?.own.stop();
  await postgres?.drills.stop();
});

const kinds = {
  site: "site",
  postgres: "database",
  mysql: "database",
  sqlite: "database",
} as const;
const idOf = (server: number, kind: keyof typeof kinds): number =>
  kind === "site" ? server : server * 10 + ["postgres", "mysql", "sqlite"].indexOf(kind);

async function backUp(
  server: number,
  kind: keyof typeof kinds,
): Promise<{ configuration: BackupConfiguration; backup: Backup }> {
  const { body } = await service.json<BackupConfiguration>(
    "POST",
    `/api/server/${server}/backup-configuration`,
    {
      name: `${kind} of ${server}`,
      frequency: "30 2 * * *",
      storage_provider_id: 1,
      backupable_type: kinds[kind],
      backupable_id: idOf(server, kind),
    },
  );
  const configuration = await soon(async () => {
    const found = await service.show(body.id);
    expect(found.status, found.status_reason ?? "").toBe("installed");
    return found;
  });
  const backup = await service.run(body.id);
  expect(backup.status, backup.output).toBe("finished");
  return { configuration, backup };
}

/** @returns the output of the drill */
async function drill({ id }: Pick<Backup, "id">, status: "finished" | "failed"): Promise<string> {
  await service.call("POST", `/api/backup/${id}/drill`);
  const found = await soon(async () => {
    const backup = await service.backup(id);
    expect(backup.drill_status, backup.drill_output ?? "").toBe(status);
    return backup;
  });
  return found.drill_output ?? "";
}

describe("a drill runs on the server that the inventory names", () => {
  test.skipIf(!hasPostgresServer)(
    "PostgreSQL: on a server without the database's roles",
    async () => {
      const { backup } = await backUp(here, "postgres");
      // A drill that the database's own server would refuse does not matter.
      expect(backup.output).not.toContain("A drill would be refused");
      expect(await drill(backup, "finished")).toMatch(
        /Drilling on web-1\.\n1 table.* restored exactly, by the count and the checksum of each table\. Owners and privileges were left out/,
      );
      expect(
        await postgres?.drills.query(
          "postgres",
          "select datname from pg_database where datname like 'quarterdeck%'",
        ),
      ).toEqual([]);
    },
  );

  test("MariaDB: with an account that has no access to the database", async () => {
    const { backup } = await backUp(here, "mysql");
    // Like on a server that lacks the account.
    await mariadb.query(null, "drop user vera");
    expect(await drill(backup, "finished")).toMatch(
      /Drilling on web-1\.\n1 table with 2 rows restored exactly, [^]*Definers were left out/,
    );
    expect(await mariadb.query(null, "show databases like 'quarterdeck%'")).toBe("");
    await mariadb.query(null, "create user vera; grant all on shop.* to vera");
  });

  inLongForm(() => {
    test("SQLite: with the tool of a server that does not have the database", async () => {
      const { backup } = await backUp(here, "sqlite");
      expect(await drill(backup, "finished")).toMatch(
        /Drilling on web-1\.\n1 table with 2 rows restored exactly/,
      );
      const path = join("/var/tmp", service.folder, "orders.sqlite");
      expect(existsSync(join("/var/tmp", folderName("drill", backup.id, path)))).toBe(false);
    });
  });

  test("a folder of this machine on a server, and one of a server on this machine", async () => {
    const there = await backUp(here, "site");
    expect(await drill(there.backup, "finished")).toMatch(
      /Drilling on web-1\.[^]* entries with \d+ bytes restored, as backed up\./,
    );
    const back = await backUp(far, "site");
    const sshd = await remote.sshd();
    await sshd.stop();
    // The drill needs neither the server nor its programs.
    expect(await drill(back.backup, "finished")).toMatch(
      /Drilling on this machine\.[^]* entries with \d+ bytes restored, as backed up\./,
    );
    for (const { id } of [there.backup, back.backup])
      expect(existsSync(drillName(id, join(service.folder, "shop")))).toBe(false);
    expect(await drill(there.backup, "failed")).toMatch(
      /Drill on web-1: .*127\.0\.0\.1:\d+ .*(?:refused|lost)/,
    );
    expect((await service.backup(there.backup.id)).damage).toBeNull();
    await sshd.start();
    await remote.responds();
  });
});

describe("a server that lacks a prerequisite fails the drill, and the message says how to fix it", () => {
  test.skipIf(!hasPostgresServer)(
    "a database server that the inventory does not list",
    async () => {
      const { backup } = await backUp(bare, "postgres");
      expect(await drill(backup, "failed")).toContain(
        `Drill on web-1: the inventory names no PostgreSQL there. Add “postgres: env:NAME” to “drills” of server ${bare} (s${bare}): the URL of a database server as web-1 reaches it.`,
      );
    },
  );

  inLongForm(() => {
    test.skipIf(!hasPostgresServer)("a database server that does not respond", async () => {
      const { backup } = await backUp(wrong, "postgres");
      expect(await drill(backup, "failed")).toMatch(
        /Drill on web-1: drills of s6: Nothing answers at 127\.0\.0\.1:9\. Start PostgreSQL there/,
      );
    });

    test("a secret that is not set", async () => {
      const { backup } = await backUp(wrong, "mysql");
      expect(await drill(backup, "failed")).toMatch(
        /Drill on web-1: The environment variable MISSING is not set; the inventory names it as “mysql” in “drills” of server 6/,
      );
    });
  });

  test("tools that are not installed there", async () => {
    const tools = await makeFolder();
    for (const tool of ["sh", "mkdir", "df", "rm", "chmod", "sleep", "mktemp", "head"])
      await symlink(`/bin/${tool}`, join(tools, tool));
    const whole = await remote.host();
    const host: Host = {
      ...whole,
      run: (command) =>
        whole.run({ ...command, environment: { ...command.environment, PATH: tools } }),
    };
    const url = mariadb.url("mysql", driller);
    const database = createMysqlDrillOn({ host, name: "drills", url, scratchFolder: tools });
    await expect(database.drill(Readable.from([]), null, attempt)).rejects.toThrow(
      "mariadb or mysql is not on the server. Install mariadb-client (or mysql-client).",
    );
    await expect(
      createFolderDrill(host, "/srv/none").drill(Readable.from([]), null, attempt),
    ).rejects.toThrow(/GNU tar is needed.*Install it/);
  });

  test("a missing account, and root unless the inventory names it", async () => {
    const { backup } = await backUp(wrong, "site");
    expect(await drill(backup, "failed")).toContain(
      "Drill on web-1: web-1 has no user “nobody-at-all”. Set “user” in “drills” of server 6 (s6) to another account.",
    );
    const { backup: asRoot } = await backUp(bare, "site");
    if (isRoot)
      expect(await drill(asRoot, "failed")).toContain(
        "Drill on web-1: the files of site5 would be written as root. Set “user” in “drills”",
      );
    else await drill(asRoot, "finished");
  });
});

test("leftovers of an interrupted drill are removed, but not a drill of another installation", async () => {
  const host = await remote.host();
  const installation = "i1";
  const scratch = `quarterdeck_drill_${attempt.id}_${installation}`;
  const another = `quarterdeck_drill_${attempt.id}_i2`;
  const left = drillName(attempt.id, "/srv/none");
  await mkdir(join(left, "content/sub"), { recursive: true });
  await createFolderDrill(host, "/srv/none").settle(attempt);
  expect(existsSync(left)).toBe(false);

  const url = mariadb.url("mysql", driller);
  for (const name of [scratch, another]) await mariadb.query(null, `create database ${name}`);
  const its = { host, name: "drills", url, scratchFolder: "/nowhere", installation };
  await createMysqlDrillOn(its).settle(attempt);
  expect(await mariadb.query(null, "show databases like 'quarterdeck%'")).toBe(`${another}\n`);
  await mariadb.query(null, `drop database ${another}`);

  if (postgres === null) return;
  const { drills } = postgres;
  for (const name of [scratch, another]) await drills.createDatabase(name, "driller");
  const place = { host, name: "drills", url: drills.url("postgres", driller), installation };
  await createPostgresDrill(place).settle(attempt);
  expect(
    await drills.query(
      "postgres",
      "select datname from pg_database where datname like 'quarterdeck%'",
    ),
  ).toEqual([{ datname: another }]);
  await drills.query("postgres", `drop database ${another}`);
});

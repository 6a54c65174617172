// Sources for the test that kills the service during backups and restores: one of each kind, whose content names its version.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { hasPostgresServer, postgresTools, startPostgresServer } from "./postgres-server.ts";
import { startMariadbServer } from "./mariadb-server.ts";
import { isLongForm } from "../../testing/long-form.ts";
import { ownUser } from "../../testing/own-user.ts";

const run = promisify(execFile);

/** Size of each source: in the long form large enough for kills during all phases of a run. */
const kilobytes = isLongForm ? 6000 : 500;
const rows = kilobytes * 10;

/** Ids of storage providers. */
export const stored = { disk: 1, sealed: 2, second: 3, brought: 4 };

export type Target = {
  /** Id of the server; each target has its own, because a server runs one task at a time. */
  server: number;
  id: { backupable_type: "database" | "site"; backupable_id: number };
  /** Fields of the configuration. */
  ways: Record<string, unknown>;
  /** Fields of a restore of the part that contains all that `read` reads. */
  part: Record<string, unknown>;
  write(version: string): Promise<void>;
  /** Returns the version of the content and its amount; several versions if the content is mixed. */
  read(): Promise<string>;
  whole: number;
  /** Writes the content to a file that can be imported; null = not possible for this kind. */
  bring: ((path: string) => Promise<unknown>) | null;
};

/** Query and formatting of the versions in one table, for `read`. */
const countVersions = "select version, count(*) from orders group by version";
const orders = { tables: ["orders"] };
const publicOrders = { tables: ["public.orders"] };
const joined = (rows: readonly object[]) => rows.map((row) => Object.values(row).join(" ")).join();

/** @param connection `connection` of a remote server in the inventory */
export async function createKillTargets(folder: string, connection: string) {
  const [mariadb, postgres, cluster] = await Promise.all([
    isLongForm ? startMariadbServer() : null,
    hasPostgresServer ? startPostgresServer() : null,
    hasPostgresServer && isLongForm ? startPostgresServer() : null,
  ]);
  await mariadb?.createDatabase("shop");
  await postgres?.createDatabase("shop");
  await cluster?.createDatabase("shop");
  for (const name of ["shop/files", "copies", "sealed", "second", "brought"])
    await mkdir(join(folder, name), { recursive: true });

  const inSqlite = (file: string) => ({
    async write(version: string) {
      const database = new DatabaseSync(file);
      database.exec(`
      create table if not exists orders (id integer primary key, version text, filler blob);
      begin; delete from orders;
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ${kilobytes})
      insert into orders select i, '${version}', randomblob(1000) from n; commit;`);
      database.close();
    },
    async read() {
      const database = new DatabaseSync(file);
      const [whole] = database.prepare("pragma integrity_check").all();
      const rows = database.prepare(countVersions).all();
      database.close();
      return (whole?.["integrity_check"] === "ok" ? "" : "damaged: ") + joined(rows);
    },
    part: orders,
    whole: kilobytes,
    bring: (path: string) => copyFile(file, path),
  });
  const inPostgres = (server: typeof postgres) => ({
    async write(version: string) {
      await server?.query(
        "shop",
        `begin; drop table if exists orders;
         create table orders as select i as id, '${version}' as version, sha512(i::text::bytea) as filler
           from generate_series(1, ${rows}) i;
         alter table orders add primary key (id); commit`,
      );
    },
    read: async () => joined((await server?.query("shop", countVersions)) ?? []),
    whole: rows,
  });
  const { hostname, port, username, password } = new URL(
    mariadb?.url("shop") ?? "mariadb://nobody@127.0.0.1:9/shop",
  );
  const files = join(folder, "shop/files");
  const database = (backupable_id: number) =>
    ({ backupable_type: "database", backupable_id }) as const;

  const targets = {
    SQLite: {
      server: 1,
      id: database(1),
      // Full backups only, so that both kinds are covered.
      ways: { copy_storage_provider_id: stored.second },
      ...inSqlite(join(folder, "orders.sqlite")),
    },
    "SQLite on a remote server": {
      server: 5,
      id: database(4),
      ways: { incremental: true },
      ...inSqlite(join(folder, "far.sqlite")),
    },
    site: {
      server: 2,
      id: { backupable_type: "site", backupable_id: 1 },
      ways: { incremental: true, storage_provider_id: stored.sealed },
      part: { path: "files" },
      async write(version) {
        for (let count = 0; count < 60; count++)
          await writeFile(
            join(files, `${count}`),
            `${version} ${randomBytes(kilobytes * 8).toString("hex")}`,
          );
      },
      async read() {
        const names = await readdir(files);
        const versions = new Set<string>();
        for (const name of names)
          versions.add((await readFile(join(files, name), "utf8")).split(" ")[0] ?? "");
        return `${[...versions].join()} ${names.length}`;
      },
      whole: 60,
      bring: (path) => run("tar", ["-czf", path, "-C", join(folder, "shop"), "files"]),
    },
    PostgreSQL: {
      server: 3,
      id: database(2),
      ways: { incremental: true, copy_storage_provider_id: stored.second },
      part: publicOrders,
      ...inPostgres(postgres),
      bring: (path) =>
        run(join(postgresTools, "pg_dump"), ["-Fc", `--file=${path}`, postgres?.url("shop") ?? ""]),
    },
    MariaDB: {
      server: 4,
      id: database(3),
      ways: {
        incremental: true,
        storage_provider_id: stored.sealed,
        copy_storage_provider_id: stored.second,
      },
      part: orders,
      async write(version) {
        await mariadb?.query(
          "shop",
          `create or replace table orders (primary key (id)) as
         select seq as id, '${version}' as version, sha2(seq, 512) as filler from seq_1_to_${rows}`,
        );
      },
      async read() {
        const lines = (await mariadb?.query("shop", countVersions)) ?? "";
        return lines.trim().replaceAll("\t", " ").replaceAll("\n", ",");
      },
      whole: rows,
      bring: (path) =>
        run(
          "mariadb-dump",
          [
            `--host=${hostname}`,
            `--port=${port}`,
            `--user=${username}`,
            `--result-file=${path}`,
            "shop",
          ],
          {
            env: { ...process.env, MYSQL_PWD: decodeURIComponent(password) },
          },
        ),
    },
    "PostgreSQL server": {
      server: 6,
      id: database(5),
      ways: { incremental: true },
      part: { from_database: "shop" },
      ...inPostgres(cluster),
      bring: null,
    },
  } as const satisfies Record<string, Target>;

  return {
    targets,
    secrets: {
      POSTGRES: postgres?.url("shop") ?? "postgres://nobody@127.0.0.1:9/shop",
      CLUSTER: cluster?.url("postgres") ?? "postgres://nobody@127.0.0.1:9/postgres",
      MARIADB: mariadb?.url("shop") ?? "mariadb://nobody@127.0.0.1:9/shop",
    },
    /** @param sealing fields of the encrypted storage */
    inventory: (sealing: string) => `
servers:
${[1, 2, 3, 4, 6].map((id) => `  - { id: ${id}, name: server-${id}, connection: local }`).join("\n")}
  - { id: 5, name: server-5, connection: ${connection} }
sites:
  - { id: 1, server: 2, name: shop, root: ${folder}/shop, user: ${ownUser} }
databases:
  - { id: 1, server: 1, name: orders, engine: sqlite, path: ${folder}/orders.sqlite, user: ${ownUser} }
  - { id: 2, server: 3, name: pg, engine: postgres, url: env:POSTGRES }
  - { id: 3, server: 4, name: maria, engine: mysql, url: env:MARIADB }
  - { id: 4, server: 5, name: far, engine: sqlite, path: ${folder}/far.sqlite, user: ${ownUser} }
  - { id: 5, server: 6, name: cluster, engine: postgres, url: env:CLUSTER, scope: server }
storage_providers:
  - { id: ${stored.disk}, name: disk, type: local, path: ${folder}/copies }
  - { id: ${stored.sealed}, name: sealed, type: local, path: ${folder}/sealed, ${sealing} }
  - { id: ${stored.second}, name: second, type: local, path: ${folder}/second }
  - { id: ${stored.brought}, name: brought, type: local, path: ${folder}/brought }
`,
    /** Returns the names of the databases of all servers. */
    async databases() {
      const names = "select datname from pg_database";
      return JSON.stringify([
        await postgres?.query("postgres", names),
        await cluster?.query("postgres", names),
        await mariadb?.query(null, "show databases"),
      ]);
    },
    async stop() {
      await Promise.all([mariadb?.stop(), postgres?.stop(), cluster?.stop()]);
    },
  };
}

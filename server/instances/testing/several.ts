// Several instances of the service on one database, and servers over SSH for them to look after.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { inject } from "vitest";
import { hasPostgresServer, startPostgresServer } from "../../backups/testing/postgres-server.ts";
import { sshEntry } from "../../ssh/testing/entry.ts";
import { startSshd, type TestSshd } from "../../ssh/testing/sshd.ts";
import { patientArtisan } from "../../testing/artisan.ts";
import { freePort } from "../../testing/free-port.ts";
import { makeMemoryFolder } from "../../testing/memory-folder.ts";
import { administer, createDatabase, databaseUrl } from "../../testing/service.ts";
import { commandOf, startService, type ServiceProcess } from "../../testing/service-process.ts";
import {
  startSupervisord,
  type TestSupervisord,
} from "../../workers/supervisord/testing/supervisord.ts";
import type { InstanceRole } from "../role.ts";

export type Several = {
  /** Contains the folders of the sites: `site-1` and so on. */
  folder: string;
  sshd: TestSshd;
  /** In the order of the servers, from 1 on. */
  supervisords: TestSupervisord[];
  /**
   * Starts an instance. It uses the data folder of an earlier one of the same name.
   * @param program start program of another version
   */
  start(name: string, role?: InstanceRole, program?: string): Promise<ServiceProcess>;
  query<Row extends object>(statement: string, values?: unknown[]): Promise<Row[]>;
  /** Returns the name of the instance that holds the lease of each server; null = no instance. */
  owners(): Promise<Map<number, string | null>>;
  close(): Promise<void>;
};

/** A database that the caller created. */
type SharedDatabase = {
  connection: pg.ClientConfig;
  /** Returns the URL at which an instance reaches the database. */
  urlOf(name: string): string;
  close(): Promise<void>;
};

/**
 * Uses a separate PostgreSQL server if this machine has one, because several instances, beside those of other test files, need
 * more connections than the shared server of all tests allows.
 */
async function createSharedDatabase(): Promise<SharedDatabase> {
  if (hasPostgresServer) {
    const server = await startPostgresServer();
    const database = "quarterdeck";
    await server.createDatabase(database);
    const url = server.url(database);
    return { connection: { connectionString: url }, urlOf: () => url, close: server.stop };
  }
  const database = await createDatabase();
  return {
    connection: { ...inject("postgres"), database },
    urlOf: () => databaseUrl(database),
    close: () => administer(`drop database ${database} with (force)`),
  };
}

/** @param many number of servers over SSH, each with one site, all on this machine; server 100 is local to the first instance */
export async function createSeveral(many: number, shared?: SharedDatabase): Promise<Several> {
  const folder = await makeMemoryFolder("quarterdeck-several-");
  const cleanUps: (() => unknown)[] = [];
  const database = shared ?? (await createSharedDatabase());
  const sshd = await startSshd({ cleanUp: (work) => void cleanUps.push(work) });
  const user = userInfo().username;
  const supervisords: TestSupervisord[] = [];
  for (let count = 0; count < many; count++) supervisords.push(await startSupervisord());
  const ids = Array.from({ length: many }, (_, index) => index + 1);
  for (const id of [...ids, 100]) {
    await mkdir(join(folder, `site-${id}`));
    await writeFile(join(folder, `site-${id}/artisan`), patientArtisan);
  }
  const inventory = join(folder, "inventory.yaml");
  const site = (id: number) =>
    `  - { id: ${id}, server: ${id}, name: site-${id}, root: ${folder}/site-${id}, user: ${user}, artisan: [sh, artisan] }`;
  await writeFile(
    inventory,
    [
      "servers:",
      ...supervisords.map(
        ({ config }, index) =>
          `  - { id: ${index + 1}, name: server-${index + 1}, connection: ${sshEntry(sshd, undefined, user)}, supervisord_config: ${config} }`,
      ),
      "  - { id: 100, name: here, connection: local }",
      "sites:",
      ...[...ids, 100].map(site),
      "storage_providers:",
      `  - { id: 1, name: disk, type: local, path: ${folder}/backups }`,
      "",
    ].join("\n"),
  );
  await mkdir(join(folder, "backups"));
  const pool = new pg.Pool(database.connection);
  // An idle connection may be closed by a fault.
  pool.on("error", () => undefined);
  const query = async <Row extends object>(statement: string, values?: unknown[]) =>
    (await pool.query<Row>(statement, values)).rows;
  const running = new Set<ServiceProcess>();

  return {
    folder,
    sshd,
    supervisords,
    async start(name, role = "all", program) {
      const environment = {
        DATABASE_URL: database.urlOf(name),
        PORT: String(await freePort()),
        QUARTERDECK_INSTANCE: name,
        QUARTERDECK_ROLE: role,
        QUARTERDECK_INVENTORY: inventory,
        QUARTERDECK_ALLOW: "127.0.0.0/8",
      };
      const data = join(folder, `data-${name}`);
      const service = await startService(
        data,
        environment,
        program === undefined ? program : commandOf(program),
      );
      running.add(service);
      return service;
    },
    query,
    async owners() {
      const rows = await query<{ id: number; name: string | null }>(
        `select servers.id, instances.name from servers
         left join server_leases lease on lease.server_id = servers.id
         left join instances on instances.id = lease.instance_id order by servers.id`,
      );
      return new Map(rows.map(({ id, name }) => [id, name]));
    },
    async close() {
      for (const service of running) {
        service.child.kill("SIGCONT");
        await service.end("SIGINT");
      }
      for (const supervisord of supervisords) await supervisord.close();
      for (const cleanUp of cleanUps.toReversed()) await cleanUp();
      await pool.end();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

// Creates a service with sources to back up, and helpers for the tests of backups.
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "vitest";
import type { AppOptions } from "../../app-options.ts";
import type { Backup, BackupConfiguration } from "../../../contract/backups/backup.ts";
import { markerName } from "../../storage/marker.ts";
import { storedFilesIn } from "../../storage/testing/stored-files.ts";
import { createTestService, type TestService } from "../../testing/service.ts";
import { ownUser } from "../../testing/own-user.ts";
import { soon } from "../../testing/soon.ts";

export { soon };

export type BackupTestService = TestService & {
  statusOf(method: string, path: string, body?: unknown): Promise<number>;
  /** Returns the message of the error response. */
  messageOf(method: string, path: string, body?: unknown): Promise<string>;
  /** Returns the field errors of a 422. */
  errorsOf(method: string, path: string, body: unknown): Promise<Record<string, string[]>>;
  /** Waits until the path returns 404. */
  becomesGone(path: string): Promise<void>;
  configuration(change?: ConfigurationChange): Promise<BackupConfiguration>;
  /** Creates a configuration and waits until it is installed. */
  installed(change?: ConfigurationChange): Promise<BackupConfiguration>;
  show(id: number): Promise<BackupConfiguration>;
  backup(id: number): Promise<Backup>;
  /** Starts a run and waits for its end. */
  run(configurationId: number): Promise<Backup>;
  /** Waits for the end of a run, a copy or an import, successful or not. */
  ended(id: number): Promise<Backup>;
  becomes(id: number, status: string, timeoutMs?: number): Promise<Backup>;
  restored(id: number, status: string, timeoutMs?: number): Promise<Backup>;
  /** Starts a drill and waits until it is finished. */
  drilled(id: number): Promise<Backup>;
  /** Deletes all configurations and empties the local storage, for a test that needs an empty service. */
  clear(): Promise<void>;
  /** Returns the stored files in the local storage, as `storedFilesIn` lists them. */
  files(): Promise<string[]>;
  /** Runs a statement on the SQLite database and returns its rows. */
  sql(statement: string): Record<string, unknown>[];
};

/** Waits for a task. Polls less often at first than `soon`, because tasks take a while and each poll is a request with several queries. */
const done = <Result>(look: () => Promise<Result>, timeoutMs?: number): Promise<Result> =>
  soon(look, timeoutMs, 100);

/** Fields of a configuration, and the id of its server, 1 by default. */
type ConfigurationChange = { server?: number; [field: string]: unknown };

export const nightly = {
  name: "Shop",
  frequency: "30 2 * * *",
  storage_provider_id: 1,
  backupable_type: "database",
  backupable_id: 1,
};

/** Returns an inventory with one site, a SQLite database, a storage, and what the test adds. */
const inventoryOf = (
  folder: string,
  { connection = "local", servers = "" }: MoreInventory,
  sites: string,
  more: string,
) => `
servers:
  - { id: 1, name: here, connection: ${connection}, time_zone: UTC }
  - { id: 2, name: there, connection: local }
${servers}
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan], databases: [1] }
${sites}
databases:
  - { id: 1, server: 1, name: orders, engine: sqlite, path: ${folder}/orders.sqlite, user: ${ownUser} }
  - { id: 2, server: 2, name: elsewhere, engine: sqlite, path: ${folder}/elsewhere.sqlite, user: ${ownUser} }
  - { id: 3, server: 1, name: gone, engine: sqlite, path: ${folder}/gone.sqlite, user: ${ownUser} }
${more}
`;

const providersOf = (folder: string, more: string) => `storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder}/copies }
  - { id: 2, name: unmounted, type: local, path: ${folder}/not-there }
${more}
`;

/** Returns the inventory entry of a site whose runs wait until the test continues them; see `createHold`. */
export const heldSite = (folder: string, id: number, server = 1) => `
  - { id: ${id}, server: ${server}, name: held, root: ${folder}/held, user: ${ownUser}, backup_hooks: { before: [sh, wait.sh] } }`;

/** Creates a configuration of such a site. A waiting run blocks all other tasks of its server. */
export async function createHold(service: BackupTestService, site: number, server = 1) {
  const inside = (name: string) => join(service.folder, "held", name);
  await mkdir(inside("."));
  await writeFile(inside("wait.sh"), "until [ -e go-on ]; do sleep 0.05; done; rm go-on");
  const { id } = await service.installed({
    server,
    backupable_type: "site",
    backupable_id: site,
  });
  return {
    id,
    /** @returns the waiting run */
    async begin(): Promise<Backup> {
      const { status, body } = await service.json<Backup>("POST", `/api/backup/${id}`);
      expect(status).toBe(202);
      return body;
    },
    letGo: () => writeFile(inside("go-on"), ""),
  };
}

/** Lines that a test adds to the inventory. */
type MoreInventory = {
  /** `connection` of the first server; by default this machine. */
  connection?: string;
  servers?: string;
  databases?: (folder: string) => string;
  sites?: (folder: string) => string;
  providers?: (folder: string) => string;
};

export async function createBackupTestService(
  options: Partial<AppOptions> = {},
  more: MoreInventory = {},
): Promise<BackupTestService> {
  const service = await createTestService({
    ...options,
    inventory: (folder) =>
      inventoryOf(
        folder,
        more,
        more.sites?.(folder) ?? "",
        `${more.databases?.(folder) ?? ""}\n${providersOf(folder, more.providers?.(folder) ?? "")}`,
      ),
  });
  const database = join(service.folder, "orders.sqlite");
  const copies = join(service.folder, "copies");
  await mkdir(copies);
  await writeFile(join(service.folder, "shop/index.php"), "<?php echo 'open';\n");

  const sql: BackupTestService["sql"] = (statement) => {
    const connection = new DatabaseSync(database);
    try {
      return connection.prepare(statement).all();
    } finally {
      connection.close();
    }
  };
  sql("create table orders (id integer primary key, customer text)");
  sql("insert into orders (customer) values ('ada'), ('grace')");

  const show = async (id: number) =>
    (await service.json<BackupConfiguration>("GET", `/api/backup-configuration/${id}`)).body;
  const backup = async (id: number) =>
    (await service.json<Backup>("GET", `/api/backup/${id}`)).body;
  const configuration: BackupTestService["configuration"] = async ({
    server = 1,
    ...change
  } = {}) => {
    const { status, body } = await service.json<BackupConfiguration>(
      "POST",
      `/api/server/${server}/backup-configuration`,
      { ...nightly, ...change },
    );
    expect(status, JSON.stringify(body)).toBe(201);
    return body;
  };
  const becomes: BackupTestService["becomes"] = (id, status, timeoutMs) =>
    done(async () => {
      const found = await backup(id);
      expect(found.status, found.output).toBe(status);
      return found;
    }, timeoutMs);
  const ended: BackupTestService["ended"] = (id) =>
    done(async () => {
      const found = await backup(id);
      expect(found.ended_at, found.output).not.toBeNull();
      return found;
    });

  const statusOf: BackupTestService["statusOf"] = async (method, path, body) =>
    (await service.call(method, path, body)).status;

  return {
    ...service,
    get app() {
      return service.app;
    },
    set app(next) {
      service.app = next;
    },
    statusOf,
    messageOf: async (method, path, body) =>
      (await service.json<{ message: string }>(method, path, body)).body.message,
    async errorsOf(method, path, body) {
      const answer = await service.json<{ errors: Record<string, string[]> }>(method, path, body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(422);
      return answer.body.errors;
    },
    becomesGone: (path) => soon(async () => expect(await statusOf("GET", path)).toBe(404)),
    ended,
    configuration,
    show,
    backup,
    becomes,
    sql,
    installed: async (change) => {
      const { id } = await configuration(change);
      return done(async () => {
        const found = await show(id);
        expect(found.status, found.status_reason ?? "").toBe("installed");
        return found;
      });
    },
    async run(configurationId) {
      const { status, body } = await service.json<Backup>("POST", `/api/backup/${configurationId}`);
      expect(status, JSON.stringify(body)).toBe(202);
      return ended(body.id);
    },
    restored: (id, status, timeoutMs) =>
      done(async () => {
        const found = await backup(id);
        expect(found.restore_status, found.restore_output ?? "").toBe(status);
        return found;
      }, timeoutMs),
    async drilled(id) {
      expect(await statusOf("POST", `/api/backup/${id}/drill`)).toBe(202);
      return done(async () => {
        const found = await backup(id);
        expect(found.drill_status, found.drill_output ?? "").toBe("finished");
        return found;
      });
    },
    async clear() {
      // An installation writes a file into its storage for a moment, even if its configuration is deleted meanwhile.
      const left = await soon(async () => {
        const found = await service.query<{ id: number; status: string }>(
          "select id, status from backup_configurations",
        );
        expect(found.filter(({ status }) => status === "installing")).toEqual([]);
        return found;
      });
      for (const { id } of left)
        // Retries until running tasks of the configuration have ended.
        await soon(async () =>
          expect(await statusOf("DELETE", `/api/backup-configuration/${id}`)).toBe(204),
        );
      for (const name of await readdir(copies))
        if (name !== markerName) await rm(join(copies, name), { recursive: true, force: true });
    },
    files: () => storedFilesIn(copies),
  };
}

// Fixtures of all browser tests: a complete service with real processes, a site, a connected page, and checks that fail
// a test on unexpected errors.
import { chmod, mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test as base, expect, type Page } from "@playwright/test";
import type { BackupConfiguration } from "../contract/backups/backup.ts";
import type { CreateBackupConfigurationBody } from "../contract/backups/bodies.ts";
import type { Worker } from "../contract/workers/worker.ts";
import {
  serviceToken,
  startService,
  type ServiceProcess,
} from "../server/testing/service-process.ts";
import { patientArtisan } from "../server/testing/artisan.ts";
import { makeMemoryFolder } from "../server/testing/memory-folder.ts";
import { workerBody } from "../server/testing/worker-body.ts";
import { ownUser } from "../server/testing/own-user.ts";

export type Site = {
  id: number;
  name: string;
  /** Replaces the script that the site's workers run. */
  artisan(script: string): Promise<void>;
  createWorker(change?: Partial<Record<keyof Worker, unknown>>): Promise<Worker>;
  worker(id: number): Promise<Worker>;
};

/** A server for one test, with sources to back up and a storage. */
export type Backups = {
  server: { id: number; name: string };
  database: { id: number; name: string; file: string };
  site: { id: number; name: string; root: string };
  /** Shared by all tests of a Playwright worker; each configuration has its own directory. */
  provider: { id: number; name: string; folder: string };
  /** Creates a nightly configuration of the database. Resolves once it was tested. */
  createConfiguration(
    change?: Partial<Record<keyof CreateBackupConfigurationBody, unknown>>,
  ): Promise<BackupConfiguration>;
  configuration(id: number): Promise<BackupConfiguration>;
  /** Runs the configuration now. Resolves with it once the run has ended. */
  run(id: number): Promise<BackupConfiguration>;
};

/** An inventory that grows with the tests; each string is one entry in YAML. */
type Inventory = Record<
  "servers" | "sites" | "databases" | "storage_providers" | "notification_channels",
  string[]
>;

type WorkerFixtures = {
  service: ServiceProcess & {
    folder: string;
    nextSiteId(): number;
    /** Changes the inventory and writes the file, which the service reads by itself. */
    changeInventory(change: (inventory: Inventory) => void): Promise<void>;
  };
};
type TestFixtures = {
  site: Site;
  backups: Backups;
  /** A page that has the token, but has not opened the dashboard yet. */
  connected: Page;
  /** Errors that this test provokes: patterns of console errors and 5xx responses. */
  expected: RegExp[];
};

/** Waits until the service has read the changed inventory. */
const expectThere = (service: ServiceProcess, path: string) =>
  expect.poll(async () => (await service.call("GET", path)).status, { intervals: [50] }).toBe(200);

export const test = base.extend<TestFixtures & { watch: void }, WorkerFixtures>({
  service: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs here
    async ({}, provide) => {
      const folder = await realpath(await makeMemoryFolder("quarterdeck-e2e-"));
      // Sources are read as the account that owns them, which needs access to the folder.
      await chmod(folder, 0o711);
      const copies = join(folder, "copies");
      await mkdir(copies);
      const inventory: Inventory = {
        servers: ["{ id: 1, name: web-1, connection: local, time_zone: UTC }"],
        sites: [],
        databases: [],
        storage_providers: [`{ id: 1, name: disk, type: local, path: ${copies} }`],
        notification_channels: [],
      };
      const file = join(folder, "inventory.yaml");
      const writeInventory = () =>
        writeFile(
          file,
          Object.entries(inventory)
            // An empty list is omitted, because a key without a value is invalid.
            .filter(([, entries]) => entries.length > 0)
            .flatMap(([kind, entries]) => [`${kind}:`, ...entries.map((one) => `  - ${one}`), ""])
            .join("\n"),
        );
      await writeInventory();
      const service = await startService(folder, {
        QUARTERDECK_INVENTORY: file,
        // Allows the tests' receivers on this machine; other private addresses stay refused.
        QUARTERDECK_ALLOW: "127.0.0.0/8",
      });
      let lastSiteId = 0;
      await provide({
        ...service,
        folder,
        nextSiteId: () => (lastSiteId += 1),
        changeInventory(change) {
          change(inventory);
          return writeInventory();
        },
      });
      await service.end("SIGINT");
      await rm(folder, { recursive: true, force: true });
    },
    { scope: "worker" },
  ],

  site: async ({ service }, provide) => {
    const id = service.nextSiteId();
    const name = `shop-${id}.example.com`;
    const root = join(service.folder, name);
    await mkdir(root);
    const artisan = (script: string) => writeFile(join(root, "artisan"), script);
    await artisan(patientArtisan);
    await service.changeInventory(({ sites }) =>
      sites.push(
        `{ id: ${id}, server: 1, name: ${name}, root: ${root}, user: ${ownUser}, artisan: [sh, artisan] }`,
      ),
    );
    await expectThere(service, `/api/site/${id}`);
    await provide({
      id,
      name,
      artisan,
      async createWorker(change = {}) {
        const response = await service.call("POST", `/api/site/${id}/worker`, {
          ...workerBody,
          ...change,
        });
        expect(response.status).toBe(201);
        return response.json();
      },
      async worker(workerId) {
        return (await service.call("GET", `/api/worker/${workerId}`)).json();
      },
    });
  },

  backups: async ({ service }, provide) => {
    const id = service.nextSiteId();
    // Id 1 is the server of the sites.
    const server = { id: id + 1000, name: `db-${id}` };
    const root = join(service.folder, `blog-${id}`);
    await mkdir(root);
    await writeFile(join(root, "index.html"), "<h1>Blog</h1>\n".repeat(100));
    const site = { id, name: `blog-${id}.example.com`, root };
    const database = {
      id,
      name: `orders-${id}`,
      file: join(service.folder, `orders-${id}.sqlite`),
    };
    const content = new DatabaseSync(database.file);
    content.exec("create table orders (id integer primary key, note text)");
    for (let row = 0; row < 50; row++)
      content.prepare("insert into orders (note) values (?)").run(`order ${row}`);
    content.close();
    await service.changeInventory(({ servers, sites, databases }) => {
      servers.push(
        `{ id: ${server.id}, name: ${server.name}, connection: local, time_zone: America/New_York }`,
      );
      sites.push(
        `{ id: ${id}, server: ${server.id}, name: ${site.name}, root: ${root}, user: ${ownUser} }`,
      );
      databases.push(
        `{ id: ${id}, server: ${server.id}, name: ${database.name}, engine: sqlite, path: ${database.file}, user: ${ownUser} }`,
      );
    });
    await expectThere(service, `/api/server/${server.id}`);

    const configuration = async (configurationId: number): Promise<BackupConfiguration> => {
      const answer = await service.call("GET", `/api/backup-configuration/${configurationId}`);
      return answer.json();
    };
    await provide({
      server,
      database,
      site,
      provider: { id: 1, name: "disk", folder: join(service.folder, "copies") },
      configuration,
      async createConfiguration(change = {}) {
        const response = await service.call(
          "POST",
          `/api/server/${server.id}/backup-configuration`,
          {
            name: "Orders, nightly",
            frequency: "30 2 * * *",
            storage_provider_id: 1,
            backupable_type: "database",
            backupable_id: id,
            ...change,
          },
        );
        expect(response.status).toBe(201);
        const created: BackupConfiguration = await response.json();
        await expect
          .poll(async () => (await configuration(created.id)).status)
          .not.toBe("installing");
        return configuration(created.id);
      },
      async run(configurationId) {
        const response = await service.call("POST", `/api/backup/${configurationId}`);
        expect(response.status).toBe(202);
        await expect
          .poll(async () => (await configuration(configurationId)).last_backup?.status, {
            // A disk that is busy with other tests' backups is slow.
            timeout: 20_000,
          })
          .toMatch(/finished|failed/);
        return configuration(configurationId);
      },
    });
  },

  connected: async ({ page, service }, provide) => {
    await page.goto(`${service.url}/healthz`);
    await page.evaluate(
      ([token]) =>
        sessionStorage.setItem("quarterdeck.session", JSON.stringify({ address: "", token })),
      [serviceToken],
    );
    await provide(page);
  },

  // oxlint-disable-next-line no-empty-pattern -- as above
  expected: async ({}, provide) => provide([]),

  watch: [
    async ({ page, expected }, provide) => {
      const problems: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error")
          problems.push(`console: ${message.text()} ${message.location().url}`);
      });
      page.on("pageerror", (error) => problems.push(`page: ${error.message}`));
      page.on("response", (response) => {
        if (response.status() >= 500) problems.push(`${response.status()} ${response.url()}`);
      });
      await provide();
      const surprises = problems.filter((text) => !expected.some((known) => known.test(text)));
      expect(surprises, "nothing went wrong behind the test's back").toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

// What every browser test stands on: a whole service with real processes, a site of its own, a page that is
// connected, and a watch that fails the test on anything a user would not have seen coming.
import { appendFile, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, expect, type Page } from "@playwright/test";
import type { Worker } from "../contract/workers/worker.ts";
import {
  serviceToken,
  startService,
  type ServiceProcess,
} from "../server/testing/service-process.ts";
import { workerBody } from "../server/testing/worker-body.ts";

/** Stays up until it is told to stop, and writes a line now and then. */
const patientArtisan =
  'echo "working on $*"; trap "echo bye; exit 0" TERM; while :; do sleep 0.2; done\n';

export type Site = {
  id: number;
  name: string;
  /** Replaces the script that the site's workers run. */
  artisan(script: string): Promise<void>;
  createWorker(change?: Partial<Record<keyof Worker, unknown>>): Promise<Worker>;
  worker(id: number): Promise<Worker>;
};

type WorkerFixtures = { service: ServiceProcess & { folder: string; nextSiteId(): number } };
type TestFixtures = {
  site: Site;
  /** A page that has the token and shows nothing yet. */
  connected: Page;
  /** Problems that this test provokes on purpose: texts that a console error or a 5xx may hold. */
  expected: RegExp[];
};

export const test = base.extend<TestFixtures & { watch: void }, WorkerFixtures>({
  service: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs here
    async ({}, provide) => {
      const folder = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-e2e-")));
      const inventory = join(folder, "inventory.yaml");
      await writeFile(
        inventory,
        "servers:\n  - { id: 1, name: web-1, connection: local, time_zone: UTC }\nsites:\n",
      );
      const service = await startService(folder, {
        QUARTERDECK_INVENTORY: inventory,
      });
      let lastSiteId = 0;
      await provide({ ...service, folder, nextSiteId: () => (lastSiteId += 1) });
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
    await appendFile(
      join(service.folder, "inventory.yaml"),
      `  - { id: ${id}, server: 1, name: ${name}, root: ${root}, artisan: [sh, artisan] }\n`,
    );
    await expect.poll(async () => (await service.call("GET", `/api/site/${id}`)).status).toBe(200);
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
        return (await response.json()) as Worker;
      },
      async worker(workerId) {
        return (await (await service.call("GET", `/api/worker/${workerId}`)).json()) as Worker;
      },
    });
  },

  connected: async ({ page, service }, provide) => {
    await page.goto(`${service.url}/connect`);
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
        if (message.type() === "error") problems.push(`console: ${message.text()}`);
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

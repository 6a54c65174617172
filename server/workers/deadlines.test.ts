import { systemClock } from "../clock.ts";
import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { isInTransit } from "../../contract/states.ts";
import { workerStates } from "../../contract/workers/worker.ts";
import { createLocalHost } from "../hosts/local.ts";
import type { JobData } from "../jobs/jobs.ts";
import { parseInventory } from "../inventory/file.ts";
import { createInventoryStore } from "../inventory/store.ts";
import { openDatabase, type OpenDatabase } from "../store/database.ts";
import { administer } from "../testing/service.ts";
import { workerBody } from "../testing/worker-body.ts";
import { deadlineSeconds } from "./deadlines.ts";
import type { Runner } from "./runner.ts";
import { createWorkerService } from "./service.ts";
import { createWorkerStore } from "./store.ts";

const waits = { startsecs: 2, startretries: 3, stopwaitsecs: 10 };

test("every state in transit has a deadline, and no other", () => {
  for (const status of workerStates)
    expect(deadlineSeconds(status, waits) !== null, status).toBe(isInTransit(status));
});

test("a start may use all its tries and the waits between them", () => {
  const tries = 4 * 2 + (1 + 2 + 3);
  expect(deadlineSeconds("installing", waits)).toBeGreaterThan(tries);
  expect(deadlineSeconds("stopping", waits)).toBeGreaterThan(10);
});

const database = `test_${randomUUID().replaceAll("-", "")}`;
let opened: OpenDatabase;
beforeAll(async () => {
  await administer(`create database ${database}`);
  opened = await openDatabase({ ...inject("postgres"), database }, () => undefined);
});
afterAll(async () => {
  await opened.close();
  await administer(`drop database ${database} with (force)`);
});

test("a worker whose processes never come to anything fails at its deadline, and says so", async () => {
  const inventory = createInventoryStore(opened.db);
  await inventory.replace(
    parseInventory(
      "servers: [{ id: 1, name: here, connection: local }]\nsites: [{ id: 1, server: 1, name: shop, root: /tmp }]",
      "inventory.yaml",
    ),
  );
  /** Takes every order and does nothing: the machine that hangs. */
  const hanging: Runner = {
    resume: async () => undefined,
    start: () => undefined,
    stop: () => undefined,
    restart: () => undefined,
    remove: () => new Promise(() => undefined),
    known: () => [],
    follow: () => undefined,
    seen: () => null,
    list: () => [],
    readLog: async () => ({ text: "", start: 0, end: 0, rotated: false }),
  };
  const sent: { name: string; data: JobData["worker.deadline"]; delay: number }[] = [];
  const store = createWorkerStore(opened.db);
  const workers = createWorkerService({
    store,
    inventory,
    runner: hanging,
    jobs: {
      // The workers' service sends jobs of workers only.
      send: async (_tx, name, data, delay = 0) =>
        void sent.push({ name, data: data as JobData["worker.deadline"], delay }),
      work: async () => undefined,
      stop: async () => undefined,
    },
    host: createLocalHost({}),
    clock: systemClock,
    log: pino({ level: "silent" }),
  });
  const site = await inventory.findSite(1);
  if (site === null) throw new Error("The site is not there.");

  const { id } = await workers.create(site, workerBody);
  const deadline = sent.find(({ name }) => name === "worker.deadline");
  expect(deadline?.delay).toBe(
    deadlineSeconds("installing", await store.byId(id).then((row) => row ?? waits)),
  );
  await workers.expire({ id, transition: 99 });
  expect((await store.byId(id))?.status).toBe("installing");
  await workers.expire(deadline?.data ?? { id, transition: 0 });
  const failed = await store.byId(id);
  expect(failed?.status).toBe("failed");
  expect(failed?.status_reason).toMatch(/^It was installing for more than \d+ seconds\.$/);

  // An answer that comes too late is not taken for the present state.
  await workers.expire(deadline?.data ?? { id, transition: 0 });
  expect((await store.byId(id))?.transition).toBe(failed?.transition);
});

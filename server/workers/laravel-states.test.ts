// States of real Laravel workers that exit by themselves and are started again.
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import type { Activity } from "../../contract/activity.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { ownUser } from "../testing/own-user.ts";
import { createTestService } from "../testing/service.ts";
import { workerBody } from "../testing/worker-body.ts";
import { laravelMissing, makeLaravelSite } from "./testing/laravel-site.ts";
import { soon } from "../testing/soon.ts";

async function makeSite(onTestFinished: TestContext["onTestFinished"]) {
  const service = await createTestService({
    inventory: (folder) =>
      `servers: [{ id: 1, name: here, connection: local }]\nsites: [{ id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser} }]`,
  });
  onTestFinished(() => service.close());
  const site = await makeLaravelSite(join(service.folder, "shop"));
  return {
    site,
    create: async (change: object) => {
      const body = { ...workerBody, sleep: 1, startsecs: 1, ...change };
      return (await service.json<Worker>("POST", "/api/site/1/worker", body)).body.id;
    },
    show: async (id: number) => (await service.json<Worker>("GET", `/api/worker/${id}`)).body,
    actions: async () =>
      (await service.json<Activity>("GET", "/api/activity?kind=worker")).body.data.map(
        ({ action }) => action,
      ),
  };
}

const where = { concurrent: true, skip: laravelMissing !== null, timeout: 120_000 };

const ends = (worker: Worker) =>
  (worker.process_list ?? []).reduce((sum, { restarts }) => sum + restarts, 0);

test(
  "a Laravel worker that exits with 0 because its database is unavailable is crash-looping",
  where,
  async ({ onTestFinished }) => {
    const { create, show, actions } = await makeSite(onTestFinished);
    // The limits do not explain the exits: the worker does not live that long, and runs no job.
    const id = await create({ connection: "lost", max_time: 3600, max_jobs: 500 });
    const worker = await soon(async () => {
      const now = await show(id);
      expect(now.crash_loop).not.toBeNull();
      return now;
    }, 80_000);
    expect(worker.process_list?.[0]?.exit_code).toBe(0);
    expect(await actions()).toContain("crash-looping");
    expect(await actions()).not.toContain("failed");
  },
);

test(
  "a busy Laravel worker that exits after its max_jobs stays installed, and nobody is notified",
  where,
  async ({ onTestFinished }) => {
    const { site, create, show, actions } = await makeSite(onTestFinished);
    // Each process runs at most five jobs after its last exit, so at least four exits are certain, however the two share the jobs.
    await site.dispatch(34, 0.3);
    const id = await create({ processes: 2, max_jobs: 6 });
    await soon(async () => expect((await show(id)).status).toBe("installed"), 80_000);
    const seen = new Set<string>();
    await soon(async () => {
      const worker = await show(id);
      seen.add(worker.status);
      expect(ends(worker)).toBeGreaterThanOrEqual(4);
      expect(await site.done()).toHaveLength(34);
    }, 80_000);
    expect([...seen]).toEqual(["installed"]);
    expect((await show(id)).crash_loop).toBeNull();
    expect(await actions()).toEqual(["up", "created"]);
  },
);

import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Overview } from "../../contract/overview.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { workerBody } from "../testing/worker-body.ts";
import { ownUser } from "../testing/own-user.ts";

let service: TestService;
beforeAll(async () => {
  service = await createTestService({
    inventory: (folder) => `
servers:
  - { id: 1, name: here, connection: local }
  - { id: 2, name: there, connection: local }
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan] }
  - { id: 2, server: 2, name: blog, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan] }
notification_channels:
  - { id: 1, name: ops, type: email, email: ops@example.com }
  - { id: 2, name: unused, type: email, email: nobody@example.com }
`,
  });
});
afterAll(() => service.close());

const show = async (token?: string): Promise<Overview> =>
  (await service.call("GET", "/api/overview", undefined, token)).json();
const soon = <Result>(look: () => Result | Promise<Result>): Promise<Result> =>
  vi.waitFor(look, { timeout: 60_000, interval: 50 });
const createWorker = (site: number, change: object = {}) =>
  service.json<{ id: number }>("POST", `/api/site/${site}/worker`, { ...workerBody, ...change });

test("nothing is wrong where there is nothing", async () => {
  expect(await show()).toEqual({
    workers: { total: 0, up: 0, stopped: 0, problems: [] },
    webhooks: { total: 0, problems: [] },
    channels: { total: 0, problems: [] },
    untold_servers: [],
  });
});

test("a worker that failed, and one that dies again and again although it is installed", async () => {
  await writeFile(`${service.folder}/shop/artisan`, "exit 3\n");
  const failed = await createWorker(1, { startretries: 0, startsecs: 1 });
  await soon(async () => expect((await show()).workers.problems).toHaveLength(1));
  await writeFile(`${service.folder}/shop/artisan`, "sleep 0.4; exit 1\n");
  const looping = await createWorker(2, { startsecs: 0 });
  await soon(async () => {
    const { workers } = await show();
    expect(workers.problems).toMatchObject([
      { id: failed.body.id, site: "shop", server_id: 1, status: "failed", is_crash_loop: false },
      { id: looping.body.id, site: "blog", server_id: 2, is_crash_loop: true },
    ]);
    expect(workers.total).toBe(2);
  });
}, 60_000);

test("a webhook whose attempts fail, and a channel that could not be notified", async () => {
  await service.call("POST", "/api/site/1/webhook", { url: "http://127.0.0.1:1/hook" });
  await service.call("PUT", "/api/site/1/notifications", { channels: [1] });
  await service.call("POST", "/api/site/1/deployment", { status: "failed" });
  await soon(async () => {
    const { webhooks, channels } = await show();
    expect(webhooks).toMatchObject({
      total: 1,
      problems: [{ site: "shop", host: "127.0.0.1:1", status: "enabled" }],
    });
    expect(channels).toMatchObject({
      total: 1,
      problems: [{ id: 1, name: "ops", site_id: 1, title: "Deployment failed: shop" }],
    });
    expect(channels.problems[0]?.answer).toMatch(/SMTP_URL/);
  });
});

test("a token sees the trouble of its own servers", async () => {
  const made = await service.json<{ token: string }>("POST", "/api/tokens", {
    name: "there",
    abilities: ["read"],
    server_ids: [2],
  });
  const seen = await show(made.body.token);
  expect(seen.workers.total).toBe(1);
  expect(seen.webhooks).toEqual({ total: 0, problems: [] });
  expect(seen.channels).toEqual({ total: 0, problems: [] });
});

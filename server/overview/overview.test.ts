import { randomBytes } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import type { NotificationChannel } from "../../contract/notifications/notification.ts";
import type { Page } from "../../contract/paging.ts";
import type { Overview } from "../../contract/overview.ts";
import { backupTaskQueue } from "../jobs/job-data.ts";
import { serialQueueOptions } from "../jobs/serial-queue.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { workerBody } from "../testing/worker-body.ts";
import { ownUser } from "../testing/own-user.ts";
import { soon } from "../testing/soon.ts";

let service: TestService;
beforeAll(async () => {
  service = await createTestService({
    secrets: { CHAT: "http://127.0.0.1:1/services/chat" },
    inventory: (folder) => `
servers:
  - { id: 1, name: here, connection: local }
  - { id: 2, name: there, connection: local }
  - { id: 3, name: empty, connection: local }
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan] }
  - { id: 2, server: 2, name: blog, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan] }
databases:
  - { id: 1, server: 2, name: orders, engine: sqlite, path: ${folder}/orders.sqlite, user: ${ownUser} }
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder}/copies }
  - { id: 2, name: offsite, type: local, path: ${folder}/offsite }
notification_channels:
  - { id: 1, name: ops, type: email, email: ops@example.com }
  - { id: 2, name: unused, type: email, email: nobody@example.com }
  - { id: 3, name: chat, type: slack, webhook: env:CHAT }
`,
  });
});
afterAll(() => service.close());
beforeAll(() => mkdir(`${service.folder}/copies`));

const show = async (token?: string): Promise<Overview> =>
  (await service.call("GET", "/api/overview", undefined, token)).json();
const createWorker = (site: number, change: object = {}) =>
  service.json<{ id: number }>("POST", `/api/site/${site}/worker`, { ...workerBody, ...change });

test("reports no problem in an empty installation", async () => {
  expect(await show()).toMatchObject({
    workers: { total: 0, up: 0, stopped: 0, failing: 0, problems: [] },
    webhooks: { total: 0, failing: 0, problems: [] },
    channels: { total: 0, failing: 0, problems: [] },
    servers_without_channels: [],
    running: [],
  });
});

test("lists every server and site, and what has no backup", async () => {
  const { protection, servers } = await show();
  expect(protection).toMatchObject({ total: 3, protected: 0, unconfigured: 3, configurations: 0 });
  expect(protection?.problems.map(({ type, name, server }) => [type, name, server])).toEqual([
    ["database", "orders", "there"],
    ["site", "shop", "here"],
    ["site", "blog", "there"],
  ]);
  expect(servers).toMatchObject([
    { id: 1, name: "here", health: "unprotected", targets: 1, sites: [{ id: 1, name: "shop" }] },
    { id: 2, name: "there", health: "unprotected", targets: 2, sites: [{ id: 2, name: "blog" }] },
    { id: 3, name: "empty", health: "empty", targets: 0, problems: 0, sites: [] },
  ]);
});

test("a server and a site have a problem while a channel they use can't be notified", async () => {
  const use = (place: string, channels: number[]) =>
    service.call("PUT", `/api/${place}/notifications`, { channels });
  const places = ["site/2", "server/2", "server/3"];
  for (const place of places) await use(place, [1]);
  await service.call("POST", "/api/site/2/deployment", { status: "failed" });
  const without = [
    { health: "unprotected", problems: 0 },
    { health: "unprotected", problems: 0, sites: [{ health: "unprotected" }] },
    { health: "empty", problems: 0 },
  ];
  await soon(async () =>
    expect((await show()).servers).toMatchObject([
      without[0],
      { health: "attention", problems: 1, sites: [{ health: "attention" }] },
      { health: "attention", problems: 1 },
    ]),
  );
  for (const place of places) await use(place, []);
  expect((await show()).servers).toMatchObject(without);
});

test("a server has a problem while nobody is notified about its backups", async () => {
  const { body: configuration } = await service.json<{ id: number }>(
    "POST",
    "/api/server/2/backup-configuration",
    {
      name: "orders",
      frequency: "30 2 * * *",
      storage_provider_id: 1,
      backupable_type: "database",
      backupable_id: 1,
    },
  );
  const silent = await show();
  expect(silent.servers_without_channels).toMatchObject([{ id: 2, configurations: 1 }]);
  // The other problem is that it has no backup yet.
  expect(silent.servers?.[1]).toMatchObject({ problems: 2 });
  await service.call("PUT", "/api/server/2/notifications", { channels: [2] });
  expect((await show()).servers?.[1]).toMatchObject({ problems: 1 });
  await service.call("PUT", "/api/server/2/notifications", { channels: [] });
  const path = `/api/backup-configuration/${configuration.id}`;
  await service.call("DELETE", path);
  await soon(async () => expect((await service.call("GET", path)).status).toBe(404));
});

test("a backup with a warning counts as protected, and needs attention until a better one", async () => {
  const { body: configuration } = await service.json<{ id: number }>(
    "POST",
    "/api/server/2/backup-configuration",
    {
      name: "blog, nightly",
      frequency: "30 2 * * *",
      storage_provider_id: 1,
      backupable_type: "site",
      backupable_id: 2,
    },
  );
  const path = `/api/backup-configuration/${configuration.id}`;
  const ofConfiguration = async () => (await service.json<BackupConfiguration>("GET", path)).body;
  await soon(async () => expect(await ofConfiguration()).toMatchObject({ status: "installed" }));
  const run = async () => {
    expect((await service.call("POST", `/api/backup/${configuration.id}`)).status).toBe(202);
    await soon(async () =>
      expect(await ofConfiguration()).toMatchObject({ last_backup: { status: "finished" } }),
    );
  };
  const ofBlog = ({ protection }: Overview) =>
    protection?.problems.find(({ type, id }) => type === "site" && id === 2);
  await run();
  const { warnings: [warning] = [] } = await ofConfiguration();
  expect(warning).toMatch(/Nearly empty/);
  const warned = await show();
  // Another run would be nearly empty, too.
  expect(ofBlog(warned)).toMatchObject({ state: "protected", warning, can_run: false });
  expect(warned.protection).toMatchObject({ total: 3, protected: 1, warned: 1, unconfigured: 2 });
  expect(warned.servers?.[1]).toMatchObject({ health: "attention", protected: 1, problems: 1 });
  expect(warned.servers?.[1]?.sites).toMatchObject([{ id: 2, health: "attention" }]);

  await writeFile(`${service.folder}/shop/upload`, randomBytes(5000));
  await run();
  const well = await show();
  expect(ofBlog(well)).toBeUndefined();
  expect(well.protection).toMatchObject({ protected: 1, warned: 0 });
  expect(well.servers?.[1]).toMatchObject({ problems: 0, sites: [{ health: "good" }] });

  await service.call("DELETE", path);
  await soon(async () => expect((await service.call("GET", path)).status).toBe(404));
});

test("a protected site needs attention while another of its backups fails", async () => {
  await mkdir(`${service.folder}/offsite`);
  const create = async (name: string, storage: number) => {
    const { body } = await service.json<{ id: number }>(
      "POST",
      "/api/server/2/backup-configuration",
      {
        name,
        frequency: "30 2 * * *",
        storage_provider_id: storage,
        backupable_type: "site",
        backupable_id: 2,
      },
    );
    const path = `/api/backup-configuration/${body.id}`;
    const of = async () => (await service.json<BackupConfiguration>("GET", path)).body;
    await soon(async () => expect(await of()).toMatchObject({ status: "installed" }));
    const run = async (status: string) => {
      expect((await service.call("POST", `/api/backup/${body.id}`)).status).toBe(202);
      await soon(async () => expect(await of()).toMatchObject({ last_backup: { status } }));
    };
    return { id: body.id, path, run };
  };
  const nightly = await create("blog, nightly", 1);
  const offsite = await create("blog, offsite", 2);
  const blog = async () => {
    const { protection, servers } = await show();
    const [site] = servers?.[1]?.sites ?? [];
    return {
      problem: protection?.problems.find(({ type, id }) => type === "site" && id === 2),
      counts: [protection?.protected, protection?.warned],
      health: site?.health,
    };
  };
  await nightly.run("finished");
  expect(await blog()).toMatchObject({
    problem: {
      state: "protected",
      warning: "“blog, offsite”: No backup yet.",
      configuration_id: offsite.id,
      can_run: true,
    },
    counts: [1, 1],
    health: "attention",
  });
  await offsite.run("finished");
  expect(await blog()).toEqual({ problem: undefined, counts: [1, 0], health: "good" });

  await rename(`${service.folder}/offsite`, `${service.folder}/unmounted`);
  await offsite.run("failed");
  expect(await blog()).toMatchObject({
    problem: {
      state: "protected",
      warning: expect.stringMatching(/^“blog, offsite”: The last run failed\. ./),
      configuration_id: offsite.id,
      can_run: true,
    },
    counts: [1, 1],
    health: "attention",
  });
  await rename(`${service.folder}/unmounted`, `${service.folder}/offsite`);
  for (const { path } of [nightly, offsite]) {
    await service.call("DELETE", path);
    await soon(async () => expect((await service.call("GET", path)).status).toBe(404));
  }
});

test("lists a failed worker, and one that is crash-looping although it is installed", async () => {
  await writeFile(`${service.folder}/shop/artisan`, "exit 3\n");
  const failed = await createWorker(1, { startretries: 0, startsecs: 1 });
  await soon(async () => expect((await show()).workers.problems).toHaveLength(1));
  await writeFile(`${service.folder}/shop/artisan`, "sleep 0.4; exit 1\n");
  const looping = await createWorker(2, { startsecs: 0 });
  await soon(async () => {
    const { workers } = await show();
    expect(workers.problems.toSorted((a, b) => a.id - b.id)).toMatchObject([
      { id: failed.body.id, site: "shop", server_id: 1, status: "failed", is_crash_loop: false },
      { id: looping.body.id, site: "blog", server_id: 2, is_crash_loop: true },
    ]);
    expect(workers).toMatchObject({ total: 2, up: 0, failing: 2 });
    expect(workers.problems.every(({ at }) => typeof at === "string")).toBe(true);
  });
  expect((await show()).servers).toMatchObject([
    { health: "failing", problems: 1, sites: [{ health: "failing" }] },
    { health: "failing", problems: 1 },
    { health: "empty" },
  ]);
});

test("a site counts as protected by its newest good backup, and lists a failed run as a problem", async () => {
  const { body: configuration } = await service.json<{ id: number }>(
    "POST",
    "/api/server/1/backup-configuration",
    {
      name: "shop, nightly",
      frequency: "30 2 * * *",
      storage_provider_id: 1,
      backupable_type: "site",
      backupable_id: 1,
    },
  );
  const protection = async () => (await show()).protection;
  const ofShop = async () =>
    (await protection())?.problems.find(({ type, id }) => type === "site" && id === 1);
  expect(await ofShop()).toMatchObject({
    state: "unprotected",
    reason: "No backup yet.",
    configuration_id: configuration.id,
  });
  await soon(async () =>
    expect(
      (await service.json("GET", `/api/backup-configuration/${configuration.id}`)).body,
    ).toMatchObject({ status: "installed" }),
  );
  await service.call("POST", `/api/backup/${configuration.id}`);
  await soon(async () =>
    expect(await protection()).toMatchObject({ total: 3, protected: 1, unconfigured: 2 }),
  );
  expect(await ofShop()).toBeUndefined();
  const [here] = (await show()).servers ?? [];
  expect(here).toMatchObject({ targets: 1, protected: 1 });
  expect(here?.next_run_at).not.toBeNull();

  await rename(`${service.folder}/shop`, `${service.folder}/gone`);
  await service.call("POST", `/api/backup/${configuration.id}`);
  await soon(async () => expect(await ofShop()).toMatchObject({ state: "late", can_run: true }));
  expect((await ofShop())?.reason).toMatch(/^The last run failed\. ./);
  await rename(`${service.folder}/gone`, `${service.folder}/shop`);
});

test("shows a running backup with its configuration", async () => {
  // The run waits for what the test writes into it.
  const { query } = service;
  const [run] = await query<{ id: number }>(
    `insert into backups (configuration_id, storage_provider_id, trigger, status, plain_size)
     select id, 1, 'manual', 'running', 5 from backup_configurations limit 1 returning id`,
  );
  await query(
    `insert into pgboss.job (name, policy, singleton_key, state, started_on, data)
     values ($1, $2, '1', 'active', now(), jsonb_build_object('backup_id', $3::int, 'kind', 'run',
       'skip_safety_backup', false, 'begun_at', now()))`,
    [backupTaskQueue, serialQueueOptions.policy, run?.id],
  );
  const { running, servers } = await show();
  expect(running).toMatchObject([
    { kind: "run", backup_id: run?.id, configuration: "shop, nightly", server: "here" },
  ]);
  expect(running?.[0]?.share).toBeGreaterThan(0);
  expect(servers?.[0]?.running).toBe(1);
  await query("delete from pgboss.job where name = $1", [backupTaskQueue]);
  await query("delete from backups where id = $1", [run?.id]);
});

test("lists a webhook whose attempts fail, and a channel that could not be notified", async () => {
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

test("lists a channel that can't be notified while further messages wait for that one", async () => {
  await service.call("PUT", "/api/site/2/notifications", { channels: [3] });
  const deploy = () => service.call("POST", "/api/site/2/deployment", { status: "failed" });
  const chat = async () => {
    const { body } = await service.json<Page<NotificationChannel>>(
      "GET",
      "/api/notification-channels",
    );
    return body.data.find(({ id }) => id === 3)?.last_message;
  };
  const problem = async () => (await show()).channels.problems.find(({ id }) => id === 3);
  await deploy();
  await soon(async () => expect(await chat()).toMatchObject({ status: "retrying" }));
  expect(await problem()).toMatchObject({ answer: "Slack cannot be reached." });
  await deploy();
  await soon(async () => expect(await chat()).toMatchObject({ status: "pending" }));
  expect(await problem()).toMatchObject({ answer: "Slack cannot be reached." });
  await service.call("PUT", "/api/site/2/notifications", { channels: [] });
});

test("shows a token the problems of its own servers", async () => {
  const made = await service.json<{ token: string }>("POST", "/api/tokens", {
    name: "there",
    abilities: ["read"],
    server_ids: [2],
  });
  const seen = await show(made.body.token);
  expect(seen.workers.total).toBe(1);
  expect(seen.webhooks).toEqual({ total: 0, failing: 0, problems: [] });
  expect(seen.channels).toEqual({ total: 0, failing: 0, problems: [] });
  expect(seen.servers?.map(({ name }) => name)).toEqual(["there"]);
  expect(seen.protection).toMatchObject({ total: 2, configurations: 0 });
  expect(JSON.stringify(seen)).not.toContain("shop");
});

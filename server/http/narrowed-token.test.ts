// Tests what a token that is limited to server 1 can access, with equal objects on server 2.
import { mkdir, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Activity } from "../../contract/activity.ts";
import type { Backup } from "../../contract/backups/backup.ts";
import { operations, type OperationName } from "../../contract/operations.ts";
import type { Operation } from "../../contract/operation.ts";
import type { NotificationChannel } from "../../contract/notifications/notification.ts";
import type { Overview } from "../../contract/overview.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { workerBody } from "../testing/worker-body.ts";
import { startReceiver } from "../webhooks/testing/receiver.ts";
import { ownUser } from "../testing/own-user.ts";
import { keysOf } from "../../contract/keys-of.ts";
import { soon } from "../testing/soon.ts";

/** Part of every name and address of server 2, and of nothing else. */
const marker = "kraken";

const inventory = (folder: string) => `
servers:
  - { id: 1, name: here, connection: local }
  - { id: 2, name: ${marker}-server, connection: local }
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan], databases: [1] }
  - { id: 2, server: 2, name: ${marker}-site, root: ${folder}/${marker}, user: ${ownUser}, artisan: [sh, artisan], databases: [1, 2] }
databases:
  - { id: 1, server: 1, name: orders, engine: sqlite, path: ${folder}/orders.sqlite, user: ${ownUser} }
  - { id: 2, server: 2, name: ${marker}-orders, engine: sqlite, path: ${folder}/${marker}.sqlite, user: ${ownUser} }
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder}/copies }
notification_channels:
  - { id: 1, name: ops, type: email, email: ops@example.com }
  - { id: 2, name: on-call, type: email, email: on-call@example.com }
`;

/** Ids by the path segment that precedes them. */
type Ids = {
  server: number;
  site: number;
  database: number;
  worker: number;
  "backup-configuration": number;
  backup: number;
  "site-webhook": number;
  "webhook-delivery": number;
  "notification-channel": number;
  token: number;
  servers: number;
  sites: number;
  databases: number;
  "storage-providers": number;
  "notification-channels": number;
};

let service: TestService;
let ours: Ids;
let theirs: Ids;
let narrowed: string;

type WithId = { id: number };
const make = async (path: string, body: object = {}): Promise<number> => {
  const { status, body: made } = await service.json<WithId>("POST", path, body);
  expect(status, path).toBeLessThan(300);
  return made.id;
};
const get = async <Body>(path: string, token?: string): Promise<Body> =>
  (await service.call("GET", path, undefined, token)).json();
const lastTitle = async (token?: string) =>
  (await get<{ data: NotificationChannel[] }>("/api/notification-channels", token)).data[0]
    ?.last_message?.title;
const expectLast = (title: string) => soon(async () => expect(await lastTitle()).toBe(title));
const deploy = (site: number, status: string, message: string) =>
  make(`/api/site/${site}/deployment`, { status, message });

/** Creates the same objects on either server. */
async function seed(place: 1 | 2, word: string): Promise<Ids> {
  const worker = await make(`/api/site/${place}/worker`, {
    ...workerBody,
    queue: word,
    startsecs: 1,
    startretries: 0,
  });
  // The workers fail before any channel is selected, so they send nothing during the tests.
  await soon(async () =>
    expect(await get(`/api/worker/${worker}`)).toMatchObject({ status: "failed" }),
  );
  const webhook = await make(`/api/site/${place}/webhook`, { url: `http://127.0.0.1:1/${word}` });
  const configuration = await make(`/api/server/${place}/backup-configuration`, {
    name: `${word} nightly`,
    frequency: "0 3 * * *",
    storage_provider_id: 1,
    backupable_type: "database",
    backupable_id: place,
  });
  const status = async () =>
    (await get<{ status: string }>(`/api/backup-configuration/${configuration}`)).status;
  await soon(async () => expect(await status()).toBe("installed"));
  const backup = await make(`/api/backup/${configuration}`);
  await soon(async () =>
    expect(await get(`/api/backup/${backup}`)).toMatchObject({ status: "finished" }),
  );
  const delivery = await make(`/api/site-webhook/${webhook}/ping`);
  return {
    server: place,
    site: place,
    database: place,
    worker,
    "backup-configuration": configuration,
    backup,
    "site-webhook": webhook,
    "webhook-delivery": delivery,
    "notification-channel": place,
    token: 0,
    servers: place,
    sites: place,
    databases: place,
    "storage-providers": 1,
    "notification-channels": place,
  };
}

beforeAll(async () => {
  service = await createTestService({ inventory });
  const { folder } = service;
  await mkdir(`${folder}/${marker}`);
  await writeFile(`${folder}/shop/artisan`, "echo shop; exit 3\n");
  await writeFile(`${folder}/${marker}/artisan`, `echo ${marker}; exit 3\n`);
  await mkdir(`${folder}/copies`);
  for (const name of ["orders", marker]) {
    const database = new DatabaseSync(`${folder}/${name}.sqlite`);
    database.exec("create table orders (id integer primary key)");
    database.close();
  }
  ours = await seed(1, "shop");
  theirs = await seed(2, marker);
  const narrow = { abilities: ["*"], server_ids: [1] };
  const mine = await service.json<{ id: number; token: string }>("POST", "/api/tokens", {
    name: "narrowed",
    ...narrow,
  });
  narrowed = mine.body.token;
  ours.token = mine.body.id;
  theirs.token = await make("/api/tokens", { name: `${marker}-token`, abilities: ["read"] });

  // One channel for both, notified about this server first and about the other one after that.
  await service.call("PUT", "/api/site/1/notifications", { channels: [1] });
  await service.call("PUT", "/api/site/2/notifications", { channels: [1, 2] });
  await deploy(1, "failed", "shop");
  await expectLast("Deployment failed: shop");
  await deploy(2, "finished", marker);
  await expectLast(`Deployed: ${marker}-site`);
}, 120_000);
afterAll(() => service.close());

const rows = keysOf(operations).map((name): [OperationName, Operation] => [name, operations[name]]);
const call = (method: string, path: string, body?: unknown) =>
  service.call(method, path, body, narrowed);

/** Returns the path with the ids of one server. Fails for a kind of id that this test does not create. */
const fill = ({ path, method }: Operation, ids: Ids): string =>
  path.replace(/([\w-]+)\/\{(\w+)\}/g, (_, segment: string) => {
    const kind = method === "POST" && path === "/api/backup/{backupConfigurationId}";
    // The cast makes an unknown segment undefined, which fails the next line.
    const id = ids[(kind ? "backup-configuration" : segment) as keyof Ids];
    expect(id, `an id for ${path}`).toBeTypeOf("number");
    return `${segment}/${id}`;
  });

describe("a token limited to one server", () => {
  test.each(rows.filter(([, row]) => row.method === "GET"))(
    "sees nothing of another server through %s",
    async (_name, row) => {
      const queries =
        row.query === undefined
          ? [""]
          : ["", "?per_page=100", "?server=2", "?site=2", `?q=${marker}`, "?q=2"];
      for (const query of queries) {
        const path = fill(row, ours) + query;
        const response = await call("GET", path);
        expect(response.status, path).toBe(row.reach === "every server" ? 403 : 200);
        expect((await response.text()).toLowerCase(), path).not.toContain(marker);
      }
    },
  );

  test.each(rows.filter(([, { path }]) => path.includes("{")))(
    "gets 404 from %s with an id of another server",
    async (name, row) => {
      const response = await call(
        row.method,
        fill(row, theirs),
        row.method === "GET" ? undefined : {},
      );
      const body = await response.text();
      expect(body).not.toContain(marker);
      // Channels belong to the account and are listed for every token, so refusing an action on one reveals nothing.
      // Inventory operations are refused with 403 for any id.
      const isKnown = name === "testNotificationChannel" || row.tag === "inventory";
      expect(response.status).toBe(isKnown ? 403 : 404);
    },
  );

  test("has no access to metrics, which cover all servers", async () => {
    expect((await call("GET", "/metrics")).status).toBe(403);
  });

  test("sees its own servers' last message to a channel that other servers use, too", async () => {
    expect(await lastTitle(narrowed)).toBe("Deployment failed: shop");
    const { channels } = await get<Overview>("/api/overview", narrowed);
    expect(channels).toMatchObject({
      total: 1,
      problems: [{ id: 1, site_id: 1, title: "Deployment failed: shop" }],
    });
  });

  test("sees no message about its own and other servers together", async () => {
    // The first message of each site is sent at once; later ones within a minute are combined.
    await deploy(1, "finished", "shop");
    await expectLast("Deployed: shop");
    for (const place of [2, 1, 2] as const) await deploy(place, "finished", marker);
    await soon(async () => expect(await lastTitle()).toMatch(/^\d × Deployed$/));
    expect(await lastTitle(narrowed)).toBe("Deployed: shop");
  });

  test("tests the channels that its sites use, and sees the results", async () => {
    expect((await call("POST", "/api/notification-channel/1/test")).status).toBe(202);
    expect(await lastTitle(narrowed)).toMatch(/^Test message/);
    expect((await call("POST", "/api/notification-channel/2/test")).status).toBe(403);
    expect((await call("POST", "/api/notification-channel/99/test")).status).toBe(404);
  });

  test("learns nothing about another server from a refusal", async () => {
    const refusal = async (type: string, id: number) => {
      const response = await call("POST", "/api/server/1/backup-configuration", {
        name: "x",
        frequency: "0 3 * * *",
        storage_provider_id: 1,
        backupable_type: type,
        backupable_id: id,
      });
      return [response.status, await response.text()];
    };
    for (const type of ["database", "site"])
      expect(await refusal(type, 2)).toEqual(await refusal(type, 99));
  });

  test("does not see what another server's webhook was sent, even about its own database", async () => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    // Site 2 lists the database of server 1, so its webhook gets the events of its backups.
    await make("/api/site/2/webhook", { url: receiver.url });
    await make(`/api/backup/${ours["backup-configuration"]}`);
    const deliveries = async (token?: string) => {
      const { data } = await get<Activity>("/api/activity?kind=webhook", token);
      return data.filter(({ detail }) => detail?.startsWith("backup.finished"));
    };
    await soon(async () =>
      expect(await deliveries()).toMatchObject([{ site_id: 2, server_id: 2 }]),
    );
    expect(await deliveries(narrowed)).toEqual([]);
  });

  test("sees the name of the target of a restore of its backup on another server, and nothing more", async () => {
    const { backup } = ours;
    await make("/api/database/2/restore", { backup_id: backup });
    await soon(async () =>
      expect(await get(`/api/backup/${backup}`)).toMatchObject({ restore_status: "finished" }),
    );
    const { restore_target: target } = await get<Backup>(`/api/backup/${backup}`, narrowed);
    expect(target).toMatchObject({ type: "database", id: 2, server_id: 2 });
    expect(target?.name).toBe(`${marker}-orders`);
    for (const path of ["/api/server/2", "/api/database/2/contents"])
      expect((await call("GET", path)).status).toBe(404);
    expect((await call("GET", `/api/backup/${target?.safety_backup_id}`)).status).toBe(404);
    const { data } = await get<Activity>("/api/activity?kind=backup", narrowed);
    expect(data.filter(({ server_id: server }) => server !== 1)).toEqual([]);
  });
});

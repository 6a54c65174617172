// Events that belong to no site: the channels of their server are notified, and the overview reports servers without channels.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Activity } from "../../contract/activity.ts";
import type { Backup, BackupConfiguration } from "../../contract/backups/backup.ts";
import type { Notification } from "../../contract/notifications/notification.ts";
import type { Overview } from "../../contract/overview.ts";
import type { Page } from "../../contract/paging.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { ownUser } from "../testing/own-user.ts";
import { startMailServer, type MailServer } from "./channels/testing/mail-server.ts";
import { soon } from "../testing/soon.ts";

let service: TestService;
let mail: MailServer;

const start = () =>
  createTestService({
    smtp: { host: "127.0.0.1", port: mail.port, isSecure: false, login: null, from: null },
    inventory: (folder) => `
servers:
  - { id: 1, name: web-1, connection: local }
  - { id: 2, name: web-2, connection: local }
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser}, databases: [1] }
databases:
  - { id: 1, server: 1, name: orders, engine: sqlite, path: ${folder}/orders.sqlite, user: ${ownUser} }
  - { id: 3, server: 1, name: books, engine: sqlite, path: ${folder}/books.sqlite, user: ${ownUser} }
  - { id: 2, server: 1, name: ledger, engine: sqlite, path: ${folder}/ledger.sqlite, user: ${ownUser} }
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder}/shop }
notification_channels:
  - { id: 1, name: ops, type: email, email: ops@example.com }
  - { id: 2, name: shop-team, type: email, email: shop@example.com }
`,
  });

beforeAll(async () => {
  mail = await startMailServer();
  service = await start();
});
afterAll(async () => {
  await service.close();
  await mail.close();
});

const choose = (path: string, channels: unknown, on = service) =>
  on.json<Page<Notification> & { errors: object }>("PUT", `/api/${path}/notifications`, {
    channels,
  });
const unnotified = async () =>
  (await service.json<Overview>("GET", "/api/overview")).body.servers_without_channels;

/** Runs a backup. Resolves once its event was dispatched to the channels. */
async function runBackup(databaseId: number, status: "installed" | "failed"): Promise<void> {
  const { body } = await service.json<BackupConfiguration>(
    "POST",
    "/api/server/1/backup-configuration",
    {
      name: `Database ${databaseId}`,
      // No run is due at any time that the tests reach.
      frequency: "0 0 29 2 *",
      storage_provider_id: 1,
      backupable_type: "database",
      backupable_id: databaseId,
    },
  );
  await soon(async () =>
    expect((await service.json("GET", `/api/backup-configuration/${body.id}`)).body).toMatchObject({
      status,
    }),
  );
  expect((await service.call("POST", `/api/backup/${body.id}`)).status).toBe(202);
  await soon(async () =>
    expect(
      await service.query(
        `select 'runs' from backups where status in ('pending', 'running')
         union select 'undispatched' from events where dispatched_at is null`,
      ),
    ).toEqual([]),
  );
}

/** Runs a backup that fails because the database does not exist. */
const failBackup = (databaseId: number) => runBackup(databaseId, "failed");

test("the channels of a server are replaced as a whole, in the same format as a site's", async () => {
  const { status, body } = await choose("server/1", [2, 1]);
  expect(status).toBe(200);
  expect(body.data).toEqual([
    { id: 1, name: "ops", type: "email", meta: { email: "o…@example.com" } },
    { id: 2, name: "shop-team", type: "email", meta: { email: "s…@example.com" } },
  ]);
  expect((await service.json("GET", "/api/server/1/notifications")).body).toEqual(body);
  // Other servers and sites are unchanged.
  for (const path of ["server/2", "site/1"])
    expect(
      (await service.json<Page<Notification>>("GET", `/api/${path}/notifications`)).body.data,
    ).toEqual([]);
  expect(await choose("server/1", [1, 99])).toMatchObject({
    status: 422,
    body: { errors: { "channels.1": ["The selected channels.1 is invalid."] } },
  });
  expect((await choose("server/9", [1])).status).toBe(404);
  expect((await choose("server/1", [])).body.data).toEqual([]);
  const { body: timeline } = await service.json<Activity>("GET", "/api/activity?server=1");
  expect(timeline.data[0]).toMatchObject({
    action: "chosen",
    object: { type: "server", id: 1, name: "web-1" },
    detail: "Channels: none",
  });
});

test("a token of another server neither sees nor changes them or their events", async () => {
  const { body } = await service.json<{ token: string }>("POST", "/api/tokens", {
    name: "web-2",
    abilities: ["*"],
    server_ids: [2],
  });
  for (const method of ["GET", "PUT"]) {
    const channels = method === "PUT" ? { channels: [] } : undefined;
    for (const what of ["notifications", "notification-events"]) {
      const path = (id: number) => `/api/server/${id}/${what}`;
      expect((await service.call(method, path(1), channels, body.token)).status).toBe(404);
      expect((await service.call(method, path(2), channels, body.token)).status).toBe(200);
    }
  }
});

test("a database of no site notifies its server's channels; without any the overview says so", async () => {
  await choose("site/1", [2]);
  await failBackup(1);
  await soon(() => expect(mail.mails.map(({ to }) => to)).toEqual([["shop@example.com"]]));
  expect(await unnotified()).toEqual([]);

  await failBackup(2);
  expect(await unnotified()).toEqual([{ id: 1, name: "web-1", configurations: 1 }]);
  await choose("server/1", [1]);
  expect(await unnotified()).toEqual([]);
  await failBackup(2);
  await soon(() => expect(mail.mails.at(-1)?.to).toEqual(["ops@example.com"]));
  const { plain = "" } = mail.mails.at(-1) ?? {};
  for (const part of ["web-1", "ledger"]) expect(plain).toContain(part);
  // The first failure of the ledger had no channel, and that of the shop was not sent to ops.
  expect(mail.mails).toHaveLength(2);
});

test("the overview counts only configurations that make backups", async () => {
  await choose("server/1", []);
  const before = await unnotified();
  const database = new DatabaseSync(join(service.folder, "shop/old-books.sqlite"));
  database.exec("create table books (title text)");
  database.close();
  const { body: imported } = await service.json<Backup>("POST", "/api/database/3/import", {
    storage_provider_id: 1,
    path: "old-books.sqlite",
  });
  await soon(async () =>
    expect((await service.json("GET", `/api/backup/${imported.id}`)).body).toMatchObject({
      status: "finished",
    }),
  );
  expect(await unnotified()).toEqual(before);
  // As while files are deleted that the storage does not give up.
  await service.query("update backup_configurations set status = 'removing'");
  expect(await unnotified()).toEqual([]);
  await service.query("update backup_configurations set status = 'failed'");
});

test("each of a server's channels gets the selected events: all, the problems, or a list", async () => {
  const database = new DatabaseSync(join(service.folder, "books.sqlite"));
  database.exec("create table books (title text)");
  database.close();
  const setEvents = (channels: unknown) =>
    service.json("PUT", "/api/server/1/notification-events", { channels });
  const [ops, team] = ["ops@example.com", "shop@example.com"];
  /** Runs a backup that finishes and one that fails, and checks the subjects of the mails by address. */
  const subjectsOf = async (expected: Record<string, string[]>) => {
    const before = mail.mails.length;
    const subjects = (address: string) =>
      mail.mails
        .slice(before)
        .filter(({ to }) => to.includes(address))
        .map(({ headers }) => (headers.get("subject") ?? "").replace(/:.*/, ""))
        .toSorted();
    await service.ahead(3600_000);
    await runBackup(3, "installed");
    await failBackup(2);
    await soon(() => expect(subjects(team)).toEqual(expected[team]));
    // Messages of a channel are sent in order, so that all earlier ones have arrived with this one.
    await service.call("POST", "/api/notification-channel/1/test");
    await soon(() => expect(subjects(ops)).toContain("Test message from Quarterdeck"));
    expect(subjects(ops)).toEqual([...(expected[ops] ?? []), "Test message from Quarterdeck"]);
  };
  await choose("server/1", [1, 2]);
  await setEvents([
    { id: 1, events: "problems" },
    { id: 2, events: ["backup.finished", "worker.failed"] },
  ]);
  await subjectsOf({ [ops]: ["Backup failed"], [team]: ["Backup finished"] });
  await setEvents([{ id: 1, events: ["worker.failed"] }]);
  await subjectsOf({ [ops]: [], [team]: ["Backup failed", "Backup finished"] });
});

test("two installations that use one mail server never use the same message id", async () => {
  const other = await start();
  onTestFinished(() => other.close());
  const before = mail.mails.length;
  for (const on of [service, other]) {
    await on.call("POST", "/api/notification-channel/1/test");
    await on.call("POST", "/api/notification-channel/2/test");
  }
  await soon(() => expect(mail.mails).toHaveLength(before + 4));
  const ids = mail.mails.map(({ headers }) => headers.get("message-id"));
  expect(new Set(ids).size).toBe(mail.mails.length);
  for (const id of ids) expect(id).toMatch(/^<msg_[0-9a-f-]{36}_\d+@[^>]+>$/);
});

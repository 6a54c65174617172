import type { Server } from "node:http";
import { mkdir, writeFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Operation } from "../../contract/operation.ts";
import type { inventoryOperations } from "../../contract/inventory/operations.ts";
import { operations, type OperationName } from "../../contract/operations.ts";
import { isLongForm } from "../testing/long-form.ts";
import { backupTaskQueue } from "../jobs/job-data.ts";
import { serialQueueOptions } from "../jobs/serial-queue.ts";
import { backupBody } from "../testing/resources.ts";
import { ownUser } from "../testing/own-user.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { workerBody } from "../testing/worker-body.ts";
import { hashSecret } from "../tokens/secret.ts";
import { createAllowedHosts } from "./allowed-hosts.ts";
import { listen } from "./listen.ts";
import { portOf } from "../testing/port-of.ts";

/** More requests than the pool's ten connections. */
const many = isLongForm ? 200 : 12;
/** A site without events: its webhooks get only what the test requests. */
const quietSite = 3;
/** How long a query waits for a connection: long enough for a busy machine. A deadlock takes longer. */
const patienceMs = 60_000;

/** Each configuration has its own database, because restores of one database exclude each other. */
const inventory = (folder: string) => `
servers:
  - { id: 1, name: here, connection: local }
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan] }
  - { id: 2, server: 1, name: blog, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan] }
  - { id: 3, server: 1, name: forum, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan] }
databases:
${Array.from({ length: many }, (_, n) => `  - { id: ${n + 1}, server: 1, name: database-${n + 1}, engine: sqlite, path: ${folder}/${n + 1}.sqlite, user: ${ownUser} }`).join("\n")}
storage_providers:
  - { id: 1, name: this disk, type: local, path: ${folder}/copies }
notification_channels:
  - { id: 1, name: ops, type: email, email: ops@example.com }
  - { id: 2, name: on-call, type: email, email: on-call@example.com }
`;

let service: TestService;
let server: Server;
let url: string;

beforeAll(async () => {
  service = await createTestService({
    inventory,
    patienceMs,
    isAllowedHost: createAllowedHosts({
      listensOn: "127.0.0.1",
      publicUrl: null,
      machineName: "",
    }),
  });
  await mkdir(`${service.folder}/copies`);
  // An idle process, because there are hundreds of them.
  await writeFile(`${service.folder}/shop/artisan`, "exec sleep 100000\n");
  await holdQueue();
  server = await listen(service.app.fetch, 0, "127.0.0.1");
  // The server listens on a port.
  url = `http://127.0.0.1:${portOf(server)}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await service.close();
});
// Removes work that would continue and slow down the next burst.
afterEach(async () => {
  await service.query("delete from backup_configurations where type = 'database'");
  // Locked in the same order as by the service, because another order could deadlock.
  await service.query(
    "update webhooks set disabled_at = now() where id in (select id from webhooks order by id for update)",
  );
});

/**
 * Inserts a run of each backup of the server into the engine's queue. SQL without its `from` clause, which selects the
 * backups.
 */
const addTasks = (state: "created" | "active") => `
  insert into pgboss.job (name, policy, singleton_key, state, started_on, data)
  select '${backupTaskQueue}', '${serialQueueOptions.policy}', '1', '${state}', case when '${state}' = 'active' then now() end,
    jsonb_build_object('backup_id', id, 'kind', 'run', 'skip_safety_backup', false, 'begun_at', null)`;

/** Inserts a job of the server that never ends, so that all later ones wait. */
async function holdQueue(): Promise<void> {
  await service.query(`
    with configuration as (
      insert into backup_configurations
        (server_id, name, frequency, hold, directory, storage_provider_id, type, site_id, status)
      values (1, 'Endless', '0 3 * * *', 7, 'endless', 1, 'site', 1, 'installed') returning id
    ), backup as (
      insert into backups (configuration_id, storage_provider_id, trigger, status)
      select id, 1, 'manual', 'running' from configuration returning id
    )
    ${addTasks("active")} from backup`);
}

const idsOf = async (statement: string, values: unknown[] = []): Promise<number[]> =>
  (await service.query<{ id: number }>(`${statement} returning id`, values)).map(({ id }) => id);

const workers = (status: string) =>
  idsOf(
    `insert into workers (site_id, connection, queue, max_jobs, max_time, force, memory, sleep, timeout, tries,
       processes, startsecs, stopwaitsecs, startretries, stopsignal, status)
     select 1, 'database', 'default', 0, 0, false, 128, 3, 60, 1, 1, 0, 10, 3, 'TERM', $1
     from generate_series(1, ${many})`,
    [status],
  );

/** Workers whose stop waits for their server. */
async function waitingWorkers(): Promise<number[]> {
  const ids = await workers("stopping");
  await service.query(
    "update workers set unreachable_since = now(), last_status = 'installed', waiting_order = transition where id = any($1)",
    [ids],
  );
  return ids;
}

const configurations = () =>
  idsOf(
    `insert into backup_configurations
       (server_id, name, frequency, hold, directory, storage_provider_id, type, database_id, status)
     select 1, 'Nightly ' || n, '0 3 * * *', 7, 'nightly', 1, 'database', n, 'installed'
     from generate_series(1, ${many}) n`,
  );

const backups = (configurationIds: readonly number[], status: string) =>
  idsOf(
    `insert into backups (configuration_id, storage_provider_id, trigger, status, ended_at)
     select id, 1, 'manual', $2, case when $2 = 'finished' then now() end from unnest($1::int[]) as wanted(id)`,
    [configurationIds, status],
  );

const waitingBackups = async () => {
  const ids = await backups(await configurations(), "pending");
  await service.query(`${addTasks("created")} from unnest($1::int[]) as wanted(id)`, [ids]);
  return ids;
};

const webhooks = () =>
  idsOf(
    `insert into webhooks (site_id, url, secret)
     select ${quietSite}, 'http://127.0.0.1:9/hook', 'whsec_' || n from generate_series(1, ${many}) n`,
  );

const deliveries = async () => {
  await service.call("POST", "/api/site/2/deployment", { status: "finished" });
  const [eventId] = await idsOf(
    `insert into events (type, server_id, site_id, message_id, data, notification, order_key, dispatched_at)
     select type, server_id, site_id, 'msg_again', data, notification, order_key, dispatched_at
     from events where type = 'site.deployed' order by id limit 1`,
  );
  return idsOf(
    `insert into webhook_deliveries (webhook_id, event_id, status, ended_at)
     select id, $2, 'failed', now() from unnest($1::int[]) as wanted(id)`,
    [await webhooks(), eventId],
  );
};

const tokens = () =>
  idsOf(
    `insert into tokens (name, hash, abilities)
     select 'token ' || n, md5(random()::text) || n, '{read}' from generate_series(1, ${many}) n`,
  );

const finishedBackups = async () => backups(await configurations(), "finished");
/** Backups whose stored file is one empty file. */
const storedBackups = async () => {
  await writeFile(`${service.folder}/copies/stored`, "");
  const ids = await finishedBackups();
  await service.query("update backups set path = 'stored', size = 0 where id = any($1)", [ids]);
  return ids;
};
/** Backups, each to be restored into the database of the next one. */
let restored: number[] = [];
const otherDatabases = async () => {
  restored = await finishedBackups();
  await service.query("update backups set path = id || '.sqlite.zst' where id = any($1)", [
    restored,
  ]);
  return Array.from({ length: many }, (_, n) => ((n + 1) % many) + 1);
};
/** All requests name the same object. */
const allFor = (id: number) => async () => Array.from({ length: many }, () => id);

type WriteName = {
  [Name in OperationName]: (typeof operations)[Name]["method"] extends "GET" ? never : Name;
}[OperationName];

type Case = {
  /** Creates the objects that the requests name, and returns an id for each request. */
  targets(): Promise<number[]>;
  body?: (n: number) => unknown;
  status: number;
};

/**
 * Operations of the inventory are excluded: they run one after the other, and each needs the version that the previous one
 * wrote.
 */
type ManyName = Exclude<WriteName, "signIn" | keyof typeof inventoryOperations>;

/** A total record, so that a new operation that writes needs a case. */
const cases: Record<ManyName, Case> = {
  checkInstallation: { targets: allFor(1), status: 200 },
  findDatabases: {
    targets: allFor(1),
    // Nothing listens on this port.
    body: () => ({ engine: "postgres", port: 1, user: "shop", password: "" }),
    status: 200,
  },
  takeOverProgram: {
    targets: allFor(1),
    // The tests must not change supervisord's programs.
    body: () => ({ program: "no such program", file: "/nowhere.conf", version: "none" }),
    status: 409,
  },
  createBackupConfiguration: {
    targets: allFor(1),
    body: (n) => ({ ...backupBody, backupable_id: n + 1 }),
    status: 201,
  },
  updateBackupConfiguration: {
    targets: configurations,
    body: () => ({ name: "Nightly", frequency: "0 4 * * *", storage_provider_id: 1 }),
    status: 200,
  },
  deleteBackupConfiguration: { targets: configurations, status: 204 },
  runBackup: { targets: configurations, status: 202 },
  restoreBackup: { targets: finishedBackups, body: () => ({}), status: 202 },
  // The stored file is not an archive of a folder.
  browseArchive: { targets: storedBackups, body: () => ({}), status: 409 },
  browseObjects: { targets: storedBackups, body: () => ({}), status: 409 },
  restoreIntoDatabase: {
    targets: otherDatabases,
    body: (n) => ({ backup_id: restored[n] }),
    status: 202,
  },
  restoreIntoSite: {
    targets: async () => {
      restored = await backups(await configurations(), "failed");
      return allFor(1)();
    },
    body: (n) => ({ backup_id: restored[n] }),
    // A failed backup cannot be restored.
    status: 409,
  },
  // Each would need a file in its storage, which nothing creates.
  importDatabaseFile: {
    targets: allFor(1),
    body: () => ({ storage_provider_id: 1, path: "dump.sql" }),
    status: 422,
  },
  importSiteFile: {
    targets: allFor(1),
    body: () => ({ storage_provider_id: 1, path: "site.tar" }),
    status: 422,
  },
  deleteBackup: { targets: finishedBackups, status: 204 },
  adoptBackups: { targets: allFor(1), status: 200 },
  createDownloadLink: { targets: storedBackups, status: 201 },
  cancelBackup: { targets: waitingBackups, status: 202 },
  pinBackup: { targets: finishedBackups, status: 200 },
  unpinBackup: { targets: finishedBackups, status: 200 },
  drillBackup: { targets: finishedBackups, status: 202 },
  // The configurations have no second storage.
  copyBackup: { targets: finishedBackups, status: 409 },
  // On a site without workers, because each request locks all workers of its site.
  reportDeployment: {
    targets: allFor(2),
    body: () => ({ status: "finished", restart_workers: true }),
    status: 202,
  },
  createWebhook: {
    targets: allFor(quietSite),
    body: (n) => ({ url: `http://127.0.0.1:9/${n}` }),
    status: 201,
  },
  updateWebhook: {
    targets: webhooks,
    body: (n) => ({
      url: `http://127.0.0.1:9/new-${n}`,
      events: ["backup.failed"],
      enabled: n % 2 === 0,
    }),
    status: 200,
  },
  deleteWebhook: { targets: webhooks, status: 204 },
  redeliver: { targets: deliveries, status: 202 },
  redeliverMissed: { targets: webhooks, status: 202 },
  pingWebhook: { targets: webhooks, status: 202 },
  rotateWebhookSecret: { targets: webhooks, status: 200 },
  updateNotifications: {
    targets: allFor(1),
    body: (n) => ({ channels: n % 2 === 0 ? [1] : [1, 2] }),
    status: 200,
  },
  updateNotificationEvents: {
    targets: allFor(1),
    body: (n) => ({ channels: n % 2 === 0 ? [] : [{ id: 1, events: "problems" }] }),
    status: 200,
  },
  updateServerNotifications: {
    targets: allFor(1),
    body: (n) => ({ channels: n % 2 === 0 ? [2] : [1, 2] }),
    status: 200,
  },
  updateServerNotificationEvents: {
    targets: allFor(1),
    body: (n) => ({ channels: n % 2 === 0 ? [] : [{ id: 2, events: "problems" }] }),
    status: 200,
  },
  testNotificationChannel: { targets: allFor(1), status: 202 },
  createToken: {
    targets: allFor(1),
    body: (n) => ({ name: `token ${n}`, abilities: ["read"] }),
    status: 201,
  },
  deleteToken: { targets: tokens, status: 204 },
  // Last, because their processes run until the end.
  createWorker: { targets: allFor(1), body: () => workerBody, status: 201 },
  stopWorker: { targets: () => workers("installed"), status: 204 },
  startWorker: { targets: () => workers("stopped"), status: 204 },
  updateWorker: { targets: () => workers("installed"), body: () => ({ memory: 256 }), status: 200 },
  restartWorker: { targets: () => workers("installed"), status: 204 },
  deleteWorker: { targets: () => workers("stopped"), status: 204 },
  withdrawWorkerOrder: { targets: waitingWorkers, status: 204 },
};

async function send({ method, path }: Operation, id: number, body: unknown): Promise<number> {
  const response = await fetch(url + path.replace(/\{\w+\}/, String(id)), {
    method,
    headers: { Authorization: `Bearer ${service.token}`, "Content-Type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Returns the number of responses by status. */
const counted = (statuses: readonly number[]): Record<number, number> =>
  Object.fromEntries(
    [...Map.groupBy(statuses, (status) => status)].map(([status, those]) => [status, those.length]),
  );

describe(`${many} requests at once`, () => {
  test("only one of many sign-ins with one code gets the token, and none fails for lack of a connection", async () => {
    const code = { hash: hashSecret("one-time"), expiresMs: Date.now() + 3_600_000, isUsed: false };
    await service.query(
      "insert into settings values ('sign_in_code', $1) on conflict (key) do update set value = $1",
      [JSON.stringify(code)],
    );
    const statuses = await Promise.all(
      Array.from({ length: many }, () => send(operations.signIn, 0, { code: "one-time" })),
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
  });

  test.each(Object.entries(cases))(
    "executes each %s",
    { timeout: 2 * patienceMs },
    async (name, one) => {
      const ids = await one.targets();
      // The cast holds because the names are the keys of `cases`.
      const operation = operations[name as WriteName];
      const statuses = await Promise.all(ids.map((id, n) => send(operation, id, one.body?.(n))));
      expect(counted(statuses)).toEqual({ [one.status]: many });
    },
  );
});

// Tests requests whose object is deleted by another session between their lookup and their change.
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Operation } from "../../contract/operation.ts";
import { operations } from "../../contract/operations.ts";
import { workerBody } from "../testing/worker-body.ts";
import {
  backupBody,
  createResources,
  kindOf,
  oneOfEach,
  pathTo,
  plantedSecrets,
  type ResourceKind,
  type Resources,
} from "../testing/resources.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { soon } from "../testing/soon.ts";

/** Table of each kind that a user can delete, and values for its unique columns. */
const tables: Partial<Record<ResourceKind, { name: string; own: (id: number) => object }>> = {
  worker: { name: "workers", own: () => ({}) },
  "backup-configuration": { name: "backup_configurations", own: () => ({}) },
  backup: { name: "backups", own: (id) => ({ file_key: `copy-${id}` }) },
  "site-webhook": { name: "webhooks", own: () => ({}) },
  "webhook-delivery": { name: "webhook_deliveries", own: () => ({}) },
  token: { name: "tokens", own: (id) => ({ hash: `hash-${id}` }) },
};

const changing = Object.entries<Operation>(operations).filter(
  ([, row]) => row.method !== "GET" && tables[kindOf(row.path) ?? "server"] !== undefined,
);

const bodies: Record<string, object> = {
  updateBackupConfiguration: backupBody,
  createWorker: workerBody,
};

let service: TestService;
let resources: Resources;
let somebody: pg.Client;
beforeAll(async () => {
  service = await createTestService({ inventory: oneOfEach, secrets: plantedSecrets });
  resources = await createResources(service, service.folder);
  somebody = new pg.Client(service.connection);
  await somebody.connect();
});
afterAll(async () => {
  await somebody.end();
  await service.close();
});

/** Inserts a copy of an existing row into its table, and returns the id. */
async function copyOf(kind: ResourceKind, id: number): Promise<number> {
  const { name, own } = tables[kind] ?? expect.fail(`${kind} has no table`);
  const { rows } = await somebody.query<{ id: number }>(
    `insert into ${name} overriding system value
     select (jsonb_populate_record(null::${name}, to_jsonb(t) || $2::jsonb)).* from ${name} t where id = $1
     returning id`,
    [resources.ids[kind], { ...own(id), id }],
  );
  return rows[0]?.id ?? expect.fail(`no ${kind} to copy`);
}

/** Does not use the connection `somebody`: inside a transaction the first result would be repeated. */
const isWaiting = async () =>
  (
    await service.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
  ).length > 0;

test.each(changing)("%s reports a deleted object, or an earlier request", async (name, row) => {
  const kind = kindOf(row.path) ?? expect.fail(`${row.path} names nothing`);
  const id = await copyOf(kind, 1000 + changing.findIndex(([other]) => other === name));
  await somebody.query("begin");
  await somebody.query(`delete from ${tables[kind]?.name} where id = $1`, [id]);

  let isAnswered = false;
  const answer = service
    .call(row.method, pathTo(row.path, { ...resources.ids, [kind]: id }), bodies[name])
    .finally(() => (isAnswered = true));
  await soon(async () => expect(isAnswered || (await isWaiting())).toBe(true));
  await somebody.query("commit");

  const { status } = await answer;
  const expected = Object.keys(row.responses).map(Number).concat(404, 409);
  expect(expected).toContain(status);
});

test("updateNotifications names the deleted channel", async () => {
  await somebody.query(
    `insert into notification_channels (id, name, entry)
     select 1000, name, entry || '{"id": 1000}' from notification_channels where id = 2`,
  );
  await somebody.query("begin");
  await somebody.query("delete from notification_channels where id = 1000");

  const answer = service.call("PUT", "/api/site/1/notifications", { channels: [1, 1000] });
  await soon(async () => expect(await isWaiting()).toBe(true));
  await somebody.query("commit");

  const response = await answer;
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({
    errors: { "channels.1": ["The selected channels.1 is invalid."] },
  });
});

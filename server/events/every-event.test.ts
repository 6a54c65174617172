// Causes each event once in a real service, and checks that the delivered payload matches its schema and names the right
// objects.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventPayloads, type EventData } from "../../contract/event-payloads.ts";
import { eventTypes, type EventType } from "../../contract/events.ts";
import type { WebhookWithSecret } from "../../contract/webhooks/webhook.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import {
  createBackupTestService,
  soon,
  type BackupTestService,
} from "../backups/testing/backup-service.ts";
import { patientArtisan } from "../testing/artisan.ts";
import { workerBody } from "../testing/worker-body.ts";
import { startReceiver, status, type TestReceiver } from "../webhooks/testing/receiver.ts";

let service: BackupTestService;
let receiver: TestReceiver;
let webhookId: number;

beforeAll(async () => {
  service = await createBackupTestService();
  receiver = await startReceiver();
  webhookId = (await createWebhook(receiver.url)).id;
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

const createWebhook = async (url: string) =>
  (await service.json<WebhookWithSecret>("POST", "/api/site/1/webhook", { url })).body;

/** Returns the newest delivered payload of a type, parsed by its schema. */
const arrived = <Type extends EventType>(type: Type): Promise<EventData<Type>> =>
  soon(() => {
    const bodies: { type: string }[] = receiver.arrivals.map(({ body }) => JSON.parse(body));
    const found = bodies.findLast((body) => body.type === type);
    expect(found, bodies.map((body) => body.type).join(", ")).toBeDefined();
    return eventPayloads[type].parse(found).data;
  });

const onShop = { server_id: 1, server: "here", site_id: 1, site: "shop" };
const ofOrders = {
  server_id: 1,
  server: "here",
  site_id: null,
  site: null,
  database_id: 1,
  database: "orders",
  sites: [{ id: 1, name: "shop" }],
};

test("a ping and two deployments", async () => {
  await service.call("POST", `/api/site-webhook/${webhookId}/ping`);
  expect(await arrived("webhook.ping")).toEqual({ ...onShop, webhook_id: webhookId });
  for (const outcome of ["finished", "failed"])
    await service.call("POST", "/api/site/1/deployment", {
      status: outcome,
      commit: "4f1c2d3",
      branch: "main",
      author: "Ada",
      message: "Charge in cents",
      url: "https://ci.example.com/runs/118",
    });
  expect(await arrived("site.deployed")).toMatchObject({ ...onShop, commit: "4f1c2d3" });
  expect(await arrived("site.deployment_failed")).toMatchObject({ ...onShop, status: "failed" });
});

test("a worker that fails and comes up again", async () => {
  const { body: worker } = await service.json<Worker>("POST", "/api/site/1/worker", {
    ...workerBody,
    startretries: 0,
    startsecs: 1,
  });
  await soon(async () =>
    expect((await service.json<Worker>("GET", `/api/worker/${worker.id}`)).body.status).toBe(
      "installed",
    ),
  );
  await writeFile(join(service.folder, "shop/artisan"), "echo no such queue; exit 3\n");
  await service.call("PUT", `/api/worker/${worker.id}/restart`);
  const failed = await arrived("worker.failed");
  expect(failed).toMatchObject({ ...onShop, worker_id: worker.id, status: "failed" });
  expect(failed.reason).toContain("no such queue");
  await writeFile(join(service.folder, "shop/artisan"), patientArtisan);
  await service.call("POST", `/api/worker/${worker.id}/start`);
  expect(await arrived("worker.recovered")).toMatchObject({ ...onShop, worker_id: worker.id });
});

test("a backup, its restore, and the failure of both; a damaged backup and its drill have separate times", async () => {
  const { id } = await service.installed();
  // Moves the next scheduled run out of the test's time.
  await service.query(
    "update backup_configurations set next_run_at = next_run_at + interval '9 days' where id = $1",
    [id],
  );
  const backup = await service.run(id);
  expect(await arrived("backup.finished")).toMatchObject({
    ...ofOrders,
    backup_id: backup.id,
    started_at: backup.started_at,
    ended_at: backup.ended_at,
  });
  await service.ahead(3600_000);
  await service.call("PUT", `/api/backup/${backup.id}`);
  await service.restored(backup.id, "finished");
  const restored = await arrived("restore.finished");
  expect(restored).toMatchObject({ ...ofOrders, backup_id: backup.id, ended_at: backup.ended_at });
  const isLater = (at: string | null, than: string | null) =>
    expect(Date.parse(at ?? "")).toBeGreaterThan(Date.parse(than ?? ""));
  isLater(restored.restore_started_at, backup.ended_at);

  await service.ahead(3600_000);
  await writeFile(join(service.folder, "copies", backup.path), "not what was stored");
  await service.call("POST", `/api/backup/${backup.id}/drill`);
  const failed = await arrived("backup.drill_failed");
  expect(failed).toMatchObject({ ...ofOrders, backup_id: backup.id, ended_at: backup.ended_at });
  isLater(failed.drill_started_at, restored.restore_ended_at);
  const damaged = await arrived("backup.damaged");
  expect(damaged).toMatchObject({ ...ofOrders, backup_id: backup.id });
  isLater(damaged.found_at, restored.restore_ended_at);

  await service.call("PUT", `/api/backup/${backup.id}`);
  await service.restored(backup.id, "failed");
  expect(await arrived("restore.failed")).toMatchObject({ ...ofOrders, backup_id: backup.id });

  // The scheduler looks at a schedule when its configuration changes.
  await service.ahead(2 * 24 * 3600_000);
  await service.call("PUT", `/api/backup-configuration/${id}`, {
    name: "Shop, nightly",
    frequency: "30 2 * * *",
    storage_provider_id: 1,
  });
  const missed = await arrived("backup.missed");
  expect(missed).toMatchObject({ ...ofOrders, configuration_id: id });

  const away = await service.configuration({ name: "Away", storage_provider_id: 2 });
  await soon(async () => expect((await service.show(away.id)).status).toBe("failed"));
  await service.call("POST", `/api/backup/${away.id}`);
  const unstored = await arrived("backup.failed");
  expect(unstored).toMatchObject({ ...ofOrders, configuration: "Away" });
});

test("a webhook that gives up a delivery, is disabled and is enabled again", async () => {
  const other = await startReceiver(status(500));
  const { id } = await createWebhook(other.url);
  await service.call("POST", "/api/site/1/deployment", { status: "finished" });
  await soon(async () =>
    expect(
      await service.query("select attempts from webhook_deliveries where webhook_id = $1", [id]),
    ).toEqual([{ attempts: 1 }]),
  );
  await service.query("update webhook_deliveries set round_attempts = 9 where webhook_id = $1", [
    id,
  ]);
  await service.ahead(3600_000);
  expect(await arrived("webhook.delivery_failed")).toMatchObject({ ...onShop, webhook_id: id });
  other.answer(status(410));
  await service.call("POST", "/api/site/1/deployment", { status: "finished" });
  expect(await arrived("webhook.disabled")).toMatchObject({ ...onShop, webhook_id: id });
  other.answer(status(200));
  await service.call("POST", `/api/site-webhook/${id}/ping`);
  expect(await arrived("webhook.enabled")).toMatchObject({ ...onShop, webhook_id: id });
  await other.close();
});

/**
 * Events that take minutes to happen. The tests of their rooms cause them, and every test service checks them against the
 * schemas.
 */
const madeElsewhere: readonly EventType[] = [
  "worker.crash_looping",
  "worker.stable",
  "server.unreachable",
  "server.recovered",
];

test("no event is missing", async () => {
  const rows = await service.query<{ type: EventType }>("select distinct type from events");
  const made = [...rows.map(({ type }) => type), ...madeElsewhere];
  expect(made.toSorted()).toEqual([...eventTypes].toSorted());
});

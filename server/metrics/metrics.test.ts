import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Token } from "../../contract/tokens.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import {
  createBackupTestService,
  soon,
  type BackupTestService,
} from "../backups/testing/backup-service.ts";
import { workerBody } from "../testing/worker-body.ts";
import { startReceiver, status } from "../webhooks/testing/receiver.ts";
import { scrape } from "./testing/exposition.ts";

let service: BackupTestService;
beforeAll(async () => {
  service = await createBackupTestService();
});
afterAll(() => service.close());

const statusWith = async (token: string, path = "/metrics") =>
  (await service.call("GET", path, undefined, token)).status;
const makeToken = async (body: object) =>
  (await service.json<Token & { token: string }>("POST", "/api/tokens", body)).body.token;

test("a token that may read everything reads the metrics; a request without one gets 401, a token limited to some servers 403", async () => {
  const bare = await service.app.fetch(new Request("http://quarterdeck.test/metrics"));
  expect(bare.status).toBe(401);
  expect(bare.headers.get("WWW-Authenticate")).toBe("Bearer");
  expect(await bare.text()).not.toContain("quarterdeck_");
  expect(await statusWith("nobody's token, 32 characters at least")).toBe(401);
  expect(
    await statusWith(await makeToken({ name: "half", abilities: ["*"], server_ids: [1] })),
  ).toBe(403);
  expect(await statusWith(await makeToken({ name: "prometheus", abilities: ["read"] }))).toBe(200);
});

test("reports the process, the pool, the version, and that each part could be read", async () => {
  const seen = await scrape(service);
  expect(seen.value("process_resident_memory_bytes")).toBeGreaterThan(1e6);
  expect(seen.value("nodejs_eventloop_lag_seconds")).toBeGreaterThanOrEqual(0);
  expect(seen.value("quarterdeck_build_info", { version: "0.0.0" })).toBe(1);
  expect(seen.value("quarterdeck_database_connections_max")).toBe(10);
  for (const part of ["workers", "backups", "webhooks", "notifications", "events"])
    expect(seen.value("quarterdeck_metrics_part_up", { part }), part).toBe(1);
});

test("a backup run changes the metrics of its configuration, and the counters", async () => {
  const { id } = await service.installed({ name: 'Shop "eu"\\' });
  const labels = {
    configuration_id: String(id),
    configuration: 'Shop \\"eu\\"\\\\',
    server: "here",
  };
  const before = await scrape(service);
  const protection = (state: string) => ({ ...labels, state });
  expect(before.value("quarterdeck_backup_last_success_timestamp_seconds", labels)).toBeUndefined();
  expect(before.value("quarterdeck_backup_protection", protection("unprotected"))).toBe(1);
  expect(before.value("quarterdeck_backup_interval_seconds", labels)).toBe(24 * 3600);
  expect(before.value("quarterdeck_backup_next_run_timestamp_seconds", labels)).toBeGreaterThan(
    Date.now() / 1000,
  );

  const { size, ended_at: endedAt } = await service.run(id);
  const after = await scrape(service);
  expect(after.value("quarterdeck_backup_last_success_timestamp_seconds", labels)).toBeCloseTo(
    Date.parse(endedAt ?? "") / 1000,
    2,
  );
  expect(after.value("quarterdeck_backup_last_success_age_seconds", labels)).toBeLessThan(60);
  expect(after.value("quarterdeck_backup_last_success_size_bytes", labels)).toBe(size);
  expect(after.value("quarterdeck_backup_protection", protection("protected"))).toBe(1);
  expect(after.value("quarterdeck_backup_protection", protection("unprotected"))).toBe(0);
  const finished = { outcome: "finished", trigger: "manual" };
  expect(after.value("quarterdeck_backup_runs_total", finished)).toBe(1);
  expect(after.value("quarterdeck_backup_stored_bytes_total")).toBe(size);
  expect(
    after.value("quarterdeck_backup_run_duration_seconds_count", { outcome: "finished" }),
  ).toBe(1);

  // The database file is missing, so the next run fails.
  const broken = await service.configuration({ name: "Gone", backupable_id: 3 });
  await soon(async () => expect((await service.show(broken.id)).status).toBe("failed"));
  await service.run(broken.id);
  const failed = { outcome: "failed", trigger: "manual" };
  expect((await scrape(service)).value("quarterdeck_backup_runs_total", failed)).toBe(1);
});

test("counts a failed worker at its site, with its restarts", async () => {
  const failed = { server_id: "1", server: "here", status: "failed" };
  expect((await scrape(service)).value("quarterdeck_workers", failed)).toBe(0);
  await writeFile(join(service.folder, "shop/artisan"), "exit 1");
  const body = { ...workerBody, startsecs: 1, startretries: 1 };
  const { body: worker } = await service.json<Worker>("POST", "/api/site/1/worker", body);
  await soon(async () => {
    const seen = await service.json<Worker>("GET", `/api/worker/${worker.id}`);
    expect(seen.body.status).toBe("failed");
  });
  const after = await scrape(service);
  expect(after.value("quarterdeck_workers", failed)).toBe(1);
  expect(after.value("quarterdeck_worker_process_restarts_total")).toBe(1);
  expect(after.value("quarterdeck_worker_processes", { state: "fatal" })).toBe(1);
});

test("counts deliveries by outcome, and disabled webhooks", async () => {
  const receiver = await startReceiver();
  const made = await service.json<{ id: number }>("POST", "/api/site/1/webhook", {
    url: receiver.url,
  });
  const ping = () => service.call("POST", `/api/site-webhook/${made.body.id}/ping`);
  const outcome = (name: string) => ({ outcome: name });
  const before = await scrape(service);
  await ping();
  await soon(async () => {
    const seen = await scrape(service);
    const rise = (name: string, labels = {}) =>
      (seen.value(name, labels) ?? 0) - (before.value(name, labels) ?? 0);
    expect(rise("quarterdeck_webhook_deliveries_total", outcome("delivered"))).toBe(1);
    expect(rise("quarterdeck_webhook_first_attempt_wait_seconds_count")).toBe(1);
    expect(seen.value("quarterdeck_webhooks", { state: "reached" })).toBe(1);
  });
  receiver.answer(status(410));
  await ping();
  await soon(async () => {
    const seen = await scrape(service);
    expect(seen.value("quarterdeck_webhook_deliveries_total", outcome("failed"))).toBe(1);
    expect(seen.value("quarterdeck_webhooks", { state: "disabled" })).toBe(1);
    expect(seen.value("quarterdeck_events_total", { type: "webhook.disabled" })).toBe(1);
    expect(seen.value("quarterdeck_events_undispatched")).toBe(0);
  });
  await receiver.close();
});

test("measures requests by pattern: ids, unknown paths and unusual methods create no new series", async () => {
  const series = async () =>
    (await scrape(service)).samples.filter(
      ({ name }) => name === "quarterdeck_http_request_duration_seconds_count",
    );
  const ask = async (round: number) => {
    for (const path of [
      `/api/worker/${round}`,
      `/api/nowhere-${round}/${round}`,
      `/somewhere-${round}`,
      `/api/site/${round}/workers?page=${round}`,
    ])
      await service.call("GET", path);
    await service.call(`X${round}`, "/api/servers");
  };
  await ask(901);
  await series();
  const before = await series();
  for (let round = 902; round < 940; round++) await ask(round);
  const after = await series();
  expect(after.length).toBe(before.length);
  const routes = new Set(after.map(({ labels }) => labels["route"]));
  expect(routes).toContain("/api/worker/{id}");
  expect(routes).toContain("/api/*");
  expect(routes).toContain("dashboard");
  expect(JSON.stringify(after)).not.toMatch(/9[0-3]\d|X9|somewhere|nowhere/);
});

test("a part that cannot be read in time is omitted and reported, without affecting others", async () => {
  const client = new pg.Client(service.connection);
  await client.connect();
  await client.query("begin; lock table workers in access exclusive mode");
  const [locked, lockedToo] = await Promise.all([scrape(service), scrape(service)]);
  await client.query("rollback");
  await client.query("alter table webhook_deliveries rename to elsewhere");
  const renamed = await scrape(service);
  await client.query("alter table elsewhere rename to webhook_deliveries");
  await client.end();
  for (const [seen, lost] of [
    [locked, "workers"],
    [lockedToo, "workers"],
    [renamed, "webhooks"],
  ] as const) {
    for (const part of ["workers", "backups", "webhooks", "notifications", "events"])
      expect(seen.value("quarterdeck_metrics_part_up", { part }), `${part}, ${lost} lost`).toBe(
        part === lost ? 0 : 1,
      );
    expect(seen.types.has("quarterdeck_workers")).toBe(lost !== "workers");
    expect(seen.types.has("quarterdeck_backup_protection")).toBe(true);
  }
  expect((await scrape(service)).value("quarterdeck_metrics_part_up", { part: "workers" })).toBe(1);
});

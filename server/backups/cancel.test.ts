import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backup } from "../../contract/backups/backup.ts";
import { createApp } from "../app.ts";
import { casesOf, isLongForm } from "../testing/long-form.ts";
import { soon } from "./testing/backup-service.ts";
import {
  createEverySource,
  gated,
  sourceKinds,
  type EverySource,
  type SourceKind,
} from "./testing/every-source.ts";
import { createRemoteServer } from "../ssh/testing/remote-server.ts";

const remote = createRemoteServer();
/** Kinds whose runs are paused in the middle; in `npm test` one whose processes the service's own account cannot kill. */
const heldUp = casesOf(sourceKinds, [
  "folder of another account" in sourceKinds ? "folder of another account" : "folder",
]);
const isHeldUp = (kind: SourceKind) => heldUp.some(([name]) => name === kind);
let every: EverySource;
beforeAll(async () => {
  every = await createEverySource(isLongForm ? remote : null, (kind) =>
    // More than a part of a bucket, 8 MiB, where one is held up; in the long form more than all buffers hold.
    isLongForm ? 20 : isHeldUp(kind) ? 10 : /PostgreSQL|MariaDB/.test(kind) ? 0 : 1,
  );
}, 240_000);
afterAll(() => every.close());

const cancel = (id: number) => every.service.json<Backup>("POST", `/api/backup/${id}/cancel`);
const activityOf = async (id: number) => {
  const { body } = await every.service.json<{
    data: { action: string; outcome: string | null; object: { type: string; id: number } }[];
  }>("GET", "/api/activity");
  return body.data
    .filter(({ object }) => object.type === "backup" && object.id === id)
    .map(({ action }) => action);
};
const postgresRows = async () => await every.postgres?.query("shop", "select count(*) from noise");
const mariadbRows = async () =>
  every.mariadb?.query("shop", "select count(*) from noise; show databases like 'quarterdeck%'");
/** Content of each source, which a canceled restore must not change, not even in part. */
const contents = {
  PostgreSQL: postgresRows,
  "whole PostgreSQL server": postgresRows,
  "PostgreSQL on a remote server": postgresRows,
  MariaDB: mariadbRows,
  "whole MariaDB server": mariadbRows,
  "whole MariaDB server on a remote server": mariadbRows,
  "MariaDB on a remote server": mariadbRows,
  SQLite: async () => every.service.sql("select count(*) from noise"),
  "SQLite on a remote server": async () => {
    const { folder } = every.service;
    const database = new DatabaseSync(join(folder, "notes.sqlite"), { readOnly: true });
    const found = database.prepare("select count(*) from noise").all();
    database.close();
    return [found, (await readdir(folder)).filter((name) => name.includes(".quarterdeck-"))];
  },
  folder: () => readdir(join(every.service.folder, "shop")),
  "folder on a remote server": () => readdir(join(every.service.folder, "far")),
  "folder of another account": () => readdir(join(every.service.folder, "theirs/other")),
} as const satisfies Record<SourceKind, () => Promise<unknown>>;

const startRun = async (id: number) =>
  (await every.service.json<Backup>("POST", `/api/backup/${id}`)).body.id;
const reason = /^Canceled by .+\. Nothing was stored\.$/;

test.each(heldUp)(
  "canceling a run of a source of kind %s in the middle leaves nothing of it, and the next run starts",
  { timeout: 240_000 },
  async (_kind, source) => {
    const { service, gate } = every;
    const { id } = await service.installed({ ...source, storage_provider_id: gated });
    gate.rule((asked) => (asked.includes("partNumber=2") ? "hang" : "pass"));
    const run = await startRun(id);
    await soon(() => expect(gate.asked().join()).toContain("partNumber=2"));
    const { status } = await cancel(run);
    expect(status).toBe(202);
    const canceled = await service.becomes(run, "failed");
    gate.rule(() => "pass");
    expect(canceled.status_reason).toMatch(reason);
    expect(canceled.output).toContain(canceled.status_reason);
    expect(await activityOf(run)).toEqual(["cancelled", "asked to cancel", "asked to run"]);
    await soon(async () => expect(await every.objects()).toEqual([]));
    await soon(async () => expect(await readdir(join(service.folder, "scratch"))).toEqual([]));
    const next = await service.run(id);
    expect(next.status, next.output).toBe("finished");
    expect(await cancel(next.id)).toMatchObject({
      status: 409,
      body: { message: "Nothing to cancel: the backup is neither queued nor running." },
    });
    await service.call("DELETE", `/api/backup-configuration/${id}?files=remove`);
    await soon(async () => expect(await every.objects()).toEqual([]));
  },
);

test("canceling a waiting run ends it at once, and the run before it continues", async () => {
  const { service, gate } = every;
  const first = await service.installed({ ...sourceKinds.folder, storage_provider_id: gated });
  const second = await service.installed({ ...sourceKinds.SQLite, storage_provider_id: gated });
  gate.rule((asked) => (asked.startsWith("PUT") ? "hang" : "pass"));
  const running = await startRun(first.id);
  await soon(() => expect(gate.asked().join()).toContain("PUT"));
  const waiting = await startRun(second.id);
  const { status, body } = await cancel(waiting);
  expect([status, body.status]).toEqual([202, "failed"]);
  expect(body.status_reason).toMatch(reason);
  expect(await activityOf(waiting)).toEqual(["cancelled", "asked to cancel", "asked to run"]);
  expect((await service.backup(running)).status).toBe("running");
  expect((await cancel(running)).status).toBe(202);
  await service.becomes(running, "failed");
  gate.rule(() => "pass");
});

test("a queued drill that is canceled, or that waits too long, is not due again at once", async () => {
  const { service, gate } = every;
  const first = await service.installed({ ...sourceKinds.folder, storage_provider_id: gated });
  const second = await service.installed({ ...sourceKinds.SQLite, storage_provider_id: gated });
  const { id } = await service.run(second.id);
  gate.rule((asked) => (asked.startsWith("PUT") ? "hang" : "pass"));
  const running = await startRun(first.id);
  await soon(() => expect(gate.asked().join()).toContain("PUT"));
  const queueDrill = async () =>
    expect((await service.call("POST", `/api/backup/${id}/drill`)).status).toBe(202);
  await queueDrill();
  const { body: canceled } = await cancel(id);
  expect(canceled).toMatchObject({ drill_status: "canceled", drilled_at: expect.any(String) });

  await service.query("update backups set drilled_at = null where id = $1", [id]);
  await queueDrill();
  await service.query(
    `update pgboss.job deadline set start_after = pgboss.job_now() from pgboss.job task
      where deadline.data ->> 'id' = task.id::text and (task.data ->> 'backup_id')::int = $1
        and deadline.state = 'created' and task.state = 'created'`,
    [id],
  );
  // Looks for jobs that are due at its start.
  const other = await createApp(service.options);
  try {
    await soon(async () =>
      expect(await service.backup(id)).toMatchObject({
        drill_status: "failed",
        drill_output: expect.stringMatching(/^Timed out after 24 hours in the queue: /),
        drilled_at: expect.any(String),
      }),
    );
  } finally {
    await other.close("keep");
  }
  expect((await cancel(running)).status).toBe(202);
  await service.becomes(running, "failed");
  gate.rule(() => "pass");
});

test("canceling a run while it reads the full that it stores changes against says so", async () => {
  const { service, gate } = every;
  const change = { storage_provider_id: gated, incremental: true };
  const { id } = await service.installed({ ...sourceKinds.folder, ...change });
  const full = await service.run(id);
  expect(full.status, full.output).toBe("finished");
  await writeFile(join(service.folder, "shop", "more"), "changed");
  for (const verdict of ["hang", "stall"] as const) {
    const isOfFull = (asked: string) => asked.startsWith("GET") && asked.includes(full.path);
    gate.rule((asked) => (isOfFull(asked) && !asked.includes(".json") ? verdict : "pass"));
    const run = await startRun(id);
    await soon(() => expect(gate.asked().some(isOfFull)).toBe(true));
    expect((await cancel(run)).status).toBe(202);
    expect((await service.becomes(run, "failed")).status_reason).toMatch(reason);
  }
  gate.rule(() => "pass");
  await service.call("DELETE", `/api/backup-configuration/${id}?files=remove`);
});

// The tests of the other sources abort their restores and drills.
test.each(casesOf(sourceKinds, ["SQLite"]))(
  "canceling a restore and a drill of a source of kind %s in the middle leaves the existing data intact",
  { timeout: 240_000 },
  async (kind, source) => {
    const { service, gate } = every;
    // Every kind with a source has an entry.
    const content = contents[kind as SourceKind];
    const before = await content();
    const { id } = await service.installed({ ...source, storage_provider_id: gated });
    const backup = await service.run(id);
    expect(backup.status, backup.output).toBe("finished");
    const holdReads = () =>
      gate.rule((asked) =>
        asked.startsWith("GET") && asked.includes(backup.path) ? "hang" : "pass",
      );
    holdReads();
    for (const [method, path, field, ended] of [
      ["POST", `/api/backup/${backup.id}/drill`, "drill_status", "canceled"],
      ["PUT", `/api/backup/${backup.id}`, "restore_status", "failed"],
    ] as const) {
      expect((await service.call(method, path)).status).toBe(202);
      await soon(() => expect(gate.asked().join()).toContain("GET"));
      expect((await cancel(backup.id)).status).toBe(202);
      await soon(async () => expect((await service.backup(backup.id))[field]).toBe(ended));
    }
    const after = await service.backup(backup.id);
    expect(after.restore_output).toMatch(/Canceled by .+\. Nothing was changed\./);
    expect((await service.show(id)).failed_drill).toBeNull();
    expect(after.drill_output).toMatch(
      /Canceled by .+\. The backup and its source are unchanged\./,
    );
    expect(await activityOf(backup.id)).toEqual(
      expect.arrayContaining(["restore cancelled", "restore drill cancelled"]),
    );
    // A restore that is running already.
    gate.rule(() => "pass");
    await service.call("PUT", `/api/backup/${backup.id}`);
    await soon(async () =>
      expect((await service.backup(backup.id)).restore_output).toContain("Restoring."),
    );
    const asked = await cancel(backup.id);
    if (asked.status === 202)
      await soon(async () =>
        expect((await service.backup(backup.id)).restore_status).not.toBe("running"),
      );
    expect(await content()).toEqual(before);
    const next = await service.run(id);
    expect(next.status, next.output).toBe("finished");
    await service.call("DELETE", `/api/backup-configuration/${id}?files=remove`);
  },
);

test("an instance other than the runner's refuses to cancel a run, without any effect", async () => {
  const { service, gate } = every;
  const { id } = await service.installed({ ...sourceKinds.folder, storage_provider_id: gated });
  gate.rule((asked) => (asked.startsWith("PUT") ? "hang" : "pass"));
  const run = await startRun(id);
  await soon(() => expect(gate.asked().join()).toContain("PUT"));
  const other = await createApp(service.options);
  try {
    const path = `http://localhost/api/backup/${run}/cancel`;
    const headers = { Authorization: `Bearer ${service.token}` };
    const response = await other.fetch(new Request(path, { method: "POST", headers }));
    expect(response.status).toBe(409);
    expect(await response.json()).toEqual({
      message: "Another instance of the service runs this. Cancel it there.",
    });
    expect(await activityOf(run)).toEqual(["asked to run"]);
    expect((await service.backup(run)).status).toBe("running");
  } finally {
    await other.close("keep");
  }
  expect((await cancel(run)).status).toBe(202);
  await service.becomes(run, "failed");
  gate.rule(() => "pass");
});

test("a stop during a restore drill leaves it interrupted, which says nothing about the backup", async () => {
  const { service, gate } = every;
  const { id } = await service.installed({ ...sourceKinds.folder, storage_provider_id: gated });
  const { id: backupId, path } = await service.run(id);
  gate.rule((asked) => (asked.startsWith("GET") && asked.includes(path) ? "hang" : "pass"));
  expect((await service.call("POST", `/api/backup/${backupId}/drill`)).status).toBe(202);
  await soon(() => expect(gate.asked().join()).toContain("GET"));
  await service.app.close("stop");
  gate.rule(() => "pass");
  service.app = await createApp(service.options);
  expect(await service.backup(backupId)).toMatchObject({
    drill_status: "interrupted",
    drill_output: expect.stringMatching(/^Interrupted: the service stopped during the run\.$/m),
    drilled_at: null,
  });
  expect((await service.show(id)).failed_drill).toBeNull();
});

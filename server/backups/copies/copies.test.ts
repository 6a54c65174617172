// Tests two storages of one configuration: their content, the messages while a copy is missing, and what fixes that.
import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, rename, rmdir, truncate } from "node:fs/promises";
import { basename, join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Backup, BackupConfiguration } from "../../../contract/backups/backup.ts";
import { protectionOf } from "../../../contract/backups/protection.ts";
import { createApp } from "../../app.ts";
import { systemClock, type Clock } from "../../clock.ts";
import { startS3, type Gate } from "../../storage/testing/s3.ts";
import { storedFilesIn } from "../../storage/testing/stored-files.ts";
import { isLongForm, inLongForm } from "../../testing/long-form.ts";
import { makeMemoryFolder } from "../../testing/memory-folder.ts";
import {
  createBackupTestService,
  soon,
  type BackupTestService,
} from "../testing/backup-service.ts";

const disk = 1;
const second = 3;
const offsite = 4;
const sealed = 5;
const otherwiseSealed = 6;

const identities = await Promise.all([1, 2].map(() => generateX25519Identity()));
const [mine = "", foreign = ""] = await Promise.all(identities.map(identityToRecipient));

/** Records the waits of copies, which end at once. */
const waited: number[] = [];
const clock: Clock = {
  ...systemClock,
  after(ms, run) {
    if (ms !== 10_000 && ms !== 60_000) return systemClock.after(ms, run);
    waited.push(ms);
    return systemClock.after(1, run);
  },
};

let service: BackupTestService;
let gate: Gate;
beforeAll(async () => {
  gate = await startS3(await makeMemoryFolder("quarterdeck-copies-"));
  const { endpoint } = gate.options;
  service = await createBackupTestService(
    { clock, secrets: { S3_KEY: gate.options.accessKey, IDENTITY: identities[0] ?? "" } },
    {
      providers: (
        folder,
      ) => `  - { id: ${second}, name: second, type: local, path: ${folder}/second }
  - { id: ${offsite}, name: offsite, type: s3, bucket: copies, endpoint: "${endpoint}", access_key: env:S3_KEY, secret_key: env:S3_KEY }
  - { id: ${sealed}, name: sealed, type: local, path: ${folder}/sealed, recipients: [${mine}] }
  - { id: ${otherwiseSealed}, name: vault, type: local, path: ${folder}/vault, recipients: [${foreign}] }`,
    },
  );
  for (const name of ["second", "sealed", "vault"]) await mkdir(join(service.folder, name));
  // Enough rows that no run gets the warning of a nearly empty backup.
  service.sql(
    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20) insert into orders (customer) select hex(randomblob(500)) from n",
  );
});
afterEach(() => gate.rule(() => "pass"));
afterAll(async () => {
  await service?.close();
  await gate?.close();
});

const twice = (change: Record<string, unknown> = {}) =>
  service.installed({ copy_storage_provider_id: second, ...change });
const fileOf = ({ path }: Backup, folder = "copies") =>
  readFile(join(service.folder, folder, path));
/** Returns the copy of a run, as its own page shows it. */
async function copyOf(run: Backup): Promise<Backup> {
  const [copy, ...others] = (await service.backup(run.id)).copies ?? [];
  expect(others).toEqual([]);
  return service.backup(copy?.id ?? 0);
}
const start = async (id: number) => (await service.json<Backup>("POST", `/api/backup/${id}`)).body;
const copyAgain = (id: number) => service.json<Backup>("POST", `/api/backup/${id}/copy`);
const eventsOf = async (id: number) =>
  (
    await service.query<{ type: string; subject: string }>(
      "select type, notification ->> 'subject' as subject from events where (data ->> 'backup_id')::int = $1",
      [id],
    )
  ).map(({ type, subject }) => `${type} ${subject}`);
const listed = async (status: string) =>
  (
    await service.json<{ data: BackupConfiguration[] }>(
      "GET",
      `/api/server/1/backups?filter[status]=${status}&per_page=100`,
    )
  ).body.data.map(({ id }) => id);
const metricOf = async (name: string, id: number) =>
  (await (await service.call("GET", "/metrics")).text())
    .split("\n")
    .find((line) => line.startsWith(`quarterdeck_backup_${name}{configuration_id="${id}"`))
    ?.split(" ")
    .at(-1);
const problemOf = async (id: number) => {
  const { body } = await service.json<{
    protection: { problems: { configuration_id: number | null; reason: string; state: string }[] };
  }>("GET", "/api/overview");
  return body.protection.problems.find((one) => one.configuration_id === id);
};
const judge = async (id: number) => protectionOf(await service.show(id), Date.now());
const remove = (id: number) =>
  service.call("DELETE", `/api/backup-configuration/${id}?files=remove`);
async function unmount(): Promise<void> {
  await rename(join(service.folder, "second"), join(service.folder, "second-disk"));
  await mkdir(join(service.folder, "second"));
}
async function mount(): Promise<void> {
  await rmdir(join(service.folder, "second"));
  await rename(join(service.folder, "second-disk"), join(service.folder, "second"));
}

test("copies a run byte for byte with a manifest of its own, and does not count the copy as a run", async () => {
  const { id } = await twice();
  const run = await service.run(id);
  expect(run.status, run.output).toBe("finished");
  expect(run.output).toMatch(
    /Stored in disk\. Copying to second\.\nCopied to second as backup \d+\.\n$/,
  );
  const copy = await copyOf(run);
  expect(copy).toMatchObject({
    status: "finished",
    trigger: "copy",
    copy_of_id: run.id,
    taken_at: run.started_at,
    storage_provider_id: second,
    size: run.size,
    checksum: run.checksum,
    plain_size: run.plain_size,
  });
  expect(copy.path).not.toBe(run.path);
  expect(await fileOf(copy, "second")).toEqual(await fileOf(run));
  const manifest: unknown = JSON.parse(
    (await readFile(join(service.folder, "second", `${copy.path}.json`))).toString(),
  );
  expect(manifest).toMatchObject({
    name: copy.path.split("/").at(-1),
    sha256: run.checksum,
    backup: { id: copy.id, trigger: "copy" },
    started_at: new Date(run.started_at).toISOString(),
    source: { name: "orders", path: join(service.folder, "orders.sqlite") },
  });
  await soon(async () =>
    expect(await readFile(join(service.folder, "second/RECOVERY.md"), "utf8")).toContain(copy.path),
  );

  await soon(async () =>
    expect((await readFile(join(service.folder, "copies/RECOVERY.md"))).toString()).toContain(
      run.path,
    ),
  );

  const shown = await service.show(id);
  expect(shown).toMatchObject({ copy_missing: null, last_backup: { id: run.id } });
  expect(shown.backups.map((one) => one.id)).toEqual([run.id]);
  expect(protectionOf(shown, Date.now())).toMatchObject({ state: "protected", warning: null });
  for (const list of ["backups", "counts"]) {
    const { body } = await service.json<{ data?: Backup[]; backups?: unknown[] }>(
      "GET",
      `/api/backup-configuration/${id}/${list}`,
    );
    expect(body.data ?? body.backups).toHaveLength(1);
  }
  expect(await eventsOf(run.id)).toEqual(["backup.finished Shop"]);
  expect(await eventsOf(copy.id)).toEqual([]);
  expect(await metricOf("copy_missing", id)).toBe("0");

  // Like any other backup, a copy is downloaded, drilled, pinned, restored and deleted.
  const file = await service.call("GET", `/api/backup/${copy.id}/file`);
  expect(Buffer.from(await file.arrayBuffer())).toEqual(await fileOf(copy, "second"));
  await service.drilled(copy.id);
  expect(await service.statusOf("PUT", `/api/backup/${copy.id}/pin`)).toBe(200);
  expect(await service.statusOf("DELETE", `/api/backup/${copy.id}`)).toBe(409);
  await service.call("DELETE", `/api/backup/${copy.id}/pin`);
  expect((await copyAgain(run.id)).body).toMatchObject({
    message: `Backup ${copy.id} is a copy in second already.`,
  });
  expect((await copyAgain(copy.id)).status).toBe(409);

  // The run's file is damaged: the message points to the copy, which can be restored.
  service.sql("delete from orders where customer = 'ada'");
  await truncate(join(service.folder, "copies", run.path), 5);
  await service.call("PUT", `/api/backup/${run.id}`);
  expect((await service.restored(run.id, "failed")).restore_output).toContain(
    `The same data is in second: restore backup ${copy.id} instead.`,
  );
  expect((await copyAgain(run.id)).status).toBe(409);
  await service.call("PUT", `/api/backup/${copy.id}`, { skip_safety_backup: true });
  await service.restored(copy.id, "finished");
  expect(service.sql("select customer from orders where customer = 'ada'")).toHaveLength(1);

  // The copy is still listed without its run.
  await service.call("DELETE", `/api/backup/${run.id}`);
  await service.becomesGone(`/api/backup/${run.id}`);
  const { body } = await service.json<{ data: Backup[] }>(
    "GET",
    `/api/backup-configuration/${id}/backups`,
  );
  expect(body.data).toMatchObject([{ id: copy.id, copy_of_id: null, trigger: "copy" }]);
  await remove(id);
  await service.becomesGone(`/api/backup-configuration/${id}`);
  expect(await storedFilesIn(join(service.folder, "second"))).toEqual([]);
  expect(await service.files()).toEqual([]);
});

test("a run continues until its copy is stored; canceling the copy keeps the run, and reports the missing copy", async () => {
  const other = await twice({ name: "Other" });
  const otherRun = await service.run(other.id);
  await service.call("DELETE", `/api/backup/${otherRun.copies?.[0]?.id}`);
  await service.becomesGone(`/api/backup/${otherRun.copies?.[0]?.id}`);
  const { id } = await twice({ copy_storage_provider_id: offsite });
  gate.rule((asked) => (asked.startsWith("PUT") ? "hang" : "pass"));
  const { id: runId } = await start(id);
  await soon(() => expect(gate.asked().join()).toContain("PUT"));
  const waiting = await service.backup(runId);
  expect(waiting).toMatchObject({ status: "running", ended_at: null, size: 0 });
  expect(waiting.output).toMatch(/Stored in disk\. Copying to offsite\.\n$/);
  const [copying] = waiting.copies ?? [];
  expect(copying).toMatchObject({ status: "running", storage_provider_id: offsite });
  expect(await eventsOf(runId)).toEqual([]);
  expect(await service.messageOf("POST", `/api/backup/${id}`)).toBe(
    "A run of this configuration is already queued or running.",
  );
  for (const busy of [runId, copying?.id])
    expect(await service.statusOf("DELETE", `/api/backup/${busy}`)).toBe(409);

  // A waiting copy does not prevent a restore, and ends at once when canceled.
  const { body: queued } = await copyAgain(otherRun.id);
  expect(queued).toMatchObject({ status: "pending", jobs_ahead: 1 });
  expect((await copyAgain(otherRun.id)).body).toMatchObject({
    message: `The backup is being copied to second already, as backup ${queued.id}.`,
  });
  expect(await service.statusOf("DELETE", `/api/backup/${otherRun.id}`)).toBe(409);
  expect(await service.statusOf("PUT", `/api/backup/${otherRun.id}`)).toBe(202);
  await service.call("POST", `/api/backup/${queued.id}/cancel`);
  expect((await service.backup(queued.id)).status_reason).toMatch(
    /^Canceled by .+ No copy was stored\.$/,
  );
  await service.call("POST", `/api/backup/${otherRun.id}/cancel`);
  expect((await service.backup(otherRun.id)).restore_status).toBe("failed");

  expect(await service.statusOf("POST", `/api/backup/${runId}/cancel`)).toBe(202);
  const run = await service.becomes(runId, "finished");
  gate.rule(() => "pass");
  const missing = /^Stored in disk, missing in offsite: Canceled by .+\. No copy was stored\. /;
  expect(run.warnings).toEqual([expect.stringMatching(missing)]);
  expect(run.output).toMatch(/^Not copied to offsite: Canceled by .+\. No copy was stored\.$/m);
  expect(run.output).not.toContain("missing in");
  expect(await fileOf(run)).toHaveLength(run.size);
  expect(await copyOf(run)).toMatchObject({ status: "failed", path: "", size: 0 });
  expect(await judge(id)).toMatchObject({
    state: "late",
    reason: "The newest backup is missing in offsite.",
  });

  gate.lock(new Date("2999-01-02T03:04:05Z"));
  const { status, body: again } = await copyAgain(run.id);
  expect(status).toBe(202);
  const copy = await service.becomes(again.id, "finished");
  expect(copy).toMatchObject({ checksum: run.checksum, storage_provider_id: offsite });
  const mended = await service.backup(run.id);
  expect(mended).toMatchObject({ warnings: [], status: "finished" });
  // The output no longer ends with the old failure.
  expect(mended.output).toBe(`${run.output}Copied to offsite as backup ${copy.id}.\n`);
  // The lock of this storage applies to the copy only.
  expect(copy.locked_until).toBe("2999-01-02T03:04:05.000000Z");
  expect((await service.backup(run.id)).locked_until).toBe(null);
  expect(await service.messageOf("DELETE", `/api/backup/${copy.id}`)).toBe(
    "Locked in offsite until 2999-01-02 03:04 UTC. It can be deleted after that.",
  );
  gate.lock(null);
  await service.query("update backups set locked_until = null where id = $1", [copy.id]);
  expect(await judge(id)).toMatchObject({ state: "protected", warning: null });

  // The file that is read for a copy is compared with its checksum.
  await service.call("DELETE", `/api/backup/${copy.id}`);
  await service.becomesGone(`/api/backup/${copy.id}`);
  expect(await judge(id)).toMatchObject({ state: "late" });
  await truncate(join(service.folder, "copies", run.path), 5);
  const refused = await service.becomes((await copyAgain(run.id)).body.id, "failed");
  expect(refused.status_reason).toContain(`${run.path} has 5 bytes instead of ${run.size}.`);
  expect((await service.backup(run.id)).damage).toBe(refused.status_reason);
  expect(await eventsOf(run.id)).toEqual(["backup.finished Shop", "backup.damaged Shop"]);
  expect((await copyAgain(run.id)).status).toBe(409);
  await remove(id);
  await remove(other.id);
});

test("retries an unavailable storage three times, reports it, never looks protected, and recovers with the next run", async () => {
  const { id } = await twice({ name: "Twice" });
  const neighbor = await twice({ name: "Neighbor" });
  expect((await service.run(id)).status).toBe("finished");
  await unmount();
  waited.length = 0;
  const run = await service.run(id);
  expect(run.status).toBe("finished");
  expect(waited).toEqual([10_000, 60_000]);
  const missing = /^Stored in disk, missing in second: .* is away: .* Quarterdeck copies it again/;
  expect(run.warnings).toEqual([expect.stringMatching(missing)]);
  const copy = await copyOf(run);
  expect(copy.status_reason).toMatch(/is away/);
  expect(copy.output).toMatch(/Trying again in 10 s\.\n.*\n.*Trying again in 1 min\./);
  expect(await eventsOf(run.id)).toEqual(["backup.finished Twice"]);
  expect(await eventsOf(copy.id)).toEqual(["backup.failed Twice, copy in second"]);

  const shown = await service.show(id);
  expect(shown.copy_missing).toEqual({ storage: "second", since: run.ended_at });
  expect(await judge(id)).toMatchObject({ state: "late" });
  expect(await problemOf(id)).toMatchObject({
    state: "late",
    reason: expect.stringContaining("The newest backup is missing in second."),
  });
  expect(await listed("failing")).toContain(id);
  expect(await metricOf("copy_missing", id)).toBe("1");

  // The next copy to this storage does not wait for retries, but its failure is reported nevertheless.
  waited.length = 0;
  const next = await service.run(neighbor.id);
  expect(waited).toEqual([]);
  expect(next.warnings).toEqual([expect.stringMatching(missing)]);
  expect(await eventsOf((await copyOf(next)).id)).toEqual([
    "backup.failed Neighbor, copy in second",
  ]);

  // A copy by hand is attempted once, and its failure is not reported again.
  const again = await service.becomes((await copyAgain(run.id)).body.id, "failed");
  expect(waited).toEqual([]);
  expect(await eventsOf(again.id)).toEqual([]);
  const since = (await service.show(id)).copy_missing?.since;
  expect(since).toBe(run.ended_at);

  await mount();
  const mended = await service.run(id);
  expect(mended).toMatchObject({ status: "finished", warnings: [] });
  expect((await copyOf(mended)).status).toBe("finished");
  await soon(async () => expect((await copyOf(run)).status).toBe("finished"));
  expect(await service.backup(run.id)).toMatchObject({ warnings: [] });
  expect(await service.show(id)).toMatchObject({ copy_missing: null });
  expect(await listed("failing")).not.toContain(id);
  await remove(id);
  await remove(neighbor.id);
});

test("encrypts a plain file while copying, and copies one that is encrypted for others unchanged", async () => {
  const { id } = await twice({ copy_storage_provider_id: sealed });
  const run = await service.run(id);
  const copy = await copyOf(run);
  expect(copy).toMatchObject({ status: "finished", encrypted: true, plain_size: run.plain_size });
  expect(copy.path).toBe(run.path.replace(/\/\d+-(\d+T\d+Z)-\d+(\..*)$/, `/${copy.id}-$1-0$2.age`));
  expect((await fileOf(copy, "sealed")).subarray(0, 21).toString()).toBe("age-encryption.org/v1");
  service.sql("delete from orders");
  const identity = identities[0];
  const restore = { identity, skip_safety_backup: true };
  expect(await service.statusOf("PUT", `/api/backup/${copy.id}`, restore)).toBe(202);
  await service.restored(copy.id, "finished");
  expect(service.sql("select * from orders")).not.toEqual([]);

  const other = await twice({
    storage_provider_id: sealed,
    copy_storage_provider_id: otherwiseSealed,
  });
  const asItIs = await service.run(other.id);
  const its = await copyOf(asItIs);
  expect(its.output).toContain(
    "The file is encrypted for the recipients of sealed and is copied as it is; those of the second storage can't open it.",
  );
  expect(await fileOf(its, "vault")).toEqual(await fileOf(asItIs, "sealed"));
  const manifest = await readFile(join(service.folder, "vault", `${its.path}.json`), "utf8");
  expect(manifest).toContain(mine);
  expect(manifest).not.toContain(foreign);
  await remove(id);
  await remove(other.id);
});

test("a copy that a stop or a crash interrupts fails, and its run ends with what it has stored", async () => {
  const { id } = await twice({ copy_storage_provider_id: offsite });
  gate.rule((asked) => (asked.startsWith("PUT") ? "hang" : "pass"));
  const { id: runId } = await start(id);
  await soon(() => expect(gate.asked().join()).toContain("PUT"));
  const copyId = (await service.backup(runId)).copies?.[0]?.id ?? 0;
  const before = await service.query("select * from backups where id = any($1) order by id", [
    [runId, copyId],
  ]);
  await service.app.close("stop");
  gate.rule(() => "pass");
  service.app = await createApp(service.options);
  expect(await service.backup(copyId)).toMatchObject({
    status: "failed",
    status_reason: "Interrupted: the service stopped during the run.",
  });
  expect(await service.backup(runId)).toMatchObject({ status: "finished" });

  // What a killed service leaves: a running row, one that waits for it, and a job whose runner sends no heartbeat.
  await service.app.close("stop");
  for (const row of before)
    await service.query(
      `update backups set (status, transition, path, output, warnings, ended_at, status_reason) =
        (select status, backups.transition + 1, path, output, warnings, ended_at, status_reason
         from jsonb_populate_record(null::backups, $1)) where id = ($1::jsonb ->> 'id')::int`,
      [JSON.stringify(row)],
    );
  await service.query(
    `update pgboss.job set state = 'active', completed_on = null, heartbeat_on = now() - interval '1 hour'
     where name = 'backup.task' and data ->> 'backup_id' = $1`,
    [String(copyId)],
  );
  service.app = await createApp(service.options);
  expect(await service.becomes(copyId, "failed")).toMatchObject({
    status_reason: "Interrupted: the service stopped or crashed during the run.",
  });
  const run = await service.becomes(runId, "finished");
  expect(run.warnings).toEqual([expect.stringMatching(/missing in offsite: Interrupted: /)]);

  if (isLongForm) {
    // Neither a copy whose job is missing nor a run that waits for such a copy waits forever.
    await service.app.close("stop");
    await service.query("update backups set status = 'running', warnings = '{}' where id = $1", [
      runId,
    ]);
    await service.query("update backups set status = 'pending' where id = $1", [copyId]);
    service.app = await createApp(service.options);
    await service.becomes(copyId, "failed");
    await service.becomes(runId, "finished");
    await service.app.close("stop");
    await service.query("update backups set status = 'running', warnings = '{}' where id = $1", [
      runId,
    ]);
    service.app = await createApp(service.options);
    expect((await service.becomes(runId, "finished")).warnings).toEqual([
      expect.stringMatching(/^Stored, but not copied: the copy was interrupted\. /),
    ]);
  }
  expect(await fileOf(run)).toHaveLength(run.size);
  expect(await judge(id)).toMatchObject({ state: "late" });
  await remove(id);
});

test("keeps as many copies as runs, and a copy displaces no run", async () => {
  const { id } = await twice({ hold: 1 });
  const gone = await service.run(id);
  const kept = await service.run(id);
  const [copy] = kept.copies ?? [];
  await service.becomesGone(`/api/backup/${gone.id}`);
  await service.becomesGone(`/api/backup/${gone.copies?.[0]?.id}`);
  expect(await service.backup(kept.id)).toMatchObject({
    status: "finished",
    copies: [{ status: "finished" }],
  });
  const { body } = await service.json<{ removes_next: { id: number }[] }>(
    "GET",
    `/api/backup-configuration/${id}/schedule`,
  );
  expect(body.removes_next.map((one) => one.id)).toEqual([kept.id, copy?.id]);

  // When the storages are exchanged, both keep their files, and missing copies are made in the other one.
  const { name, frequency } = await service.show(id);
  const exchanged = { storage_provider_id: second, copy_storage_provider_id: disk };
  await service.call("PUT", `/api/backup-configuration/${id}`, { name, frequency, ...exchanged });
  expect(await service.show(id)).toMatchObject({ ...exchanged, copy_missing: null });
  expect((await copyAgain(kept.id)).status).toBe(409);
  await service.call("DELETE", `/api/backup/${copy?.id}`);
  await service.becomesGone(`/api/backup/${copy?.id}`);
  expect((await service.show(id)).copy_missing).toMatchObject({ storage: "second" });
  const again = await service.becomes((await copyAgain(kept.id)).body.id, "finished");
  expect(again.storage_provider_id).toBe(second);
  expect((await service.show(id)).copy_missing).toBe(null);
  await remove(id);
});

test("keeps a copy as long as its run is pinned, without counting it, and shows that in advance", async () => {
  const { id } = await twice({ hold: 1 });
  const pinned = await service.run(id);
  await service.call("PUT", `/api/backup/${pinned.id}/pin`);
  const before = await service.run(id);
  const [deleted] = pinned.copies ?? [];
  await service.call("DELETE", `/api/backup/${deleted?.id}`);
  await service.becomesGone(`/api/backup/${deleted?.id}`);
  const again = await copyAgain(pinned.id);
  expect(again.status).toBe(202);
  const copy = await service.ended(again.body.id);
  // The next run begins only after the retention of the copy.
  const last = await service.run(id);
  const [lastCopy] = last.copies ?? [];
  for (const gone of [before.id, before.copies?.[0]?.id])
    await service.becomesGone(`/api/backup/${gone}`);
  expect(await copyOf(pinned)).toMatchObject({ id: copy.id, status: "finished" });
  expect(await copyOf(last)).toMatchObject({ status: "finished" });

  const removesNext = async () => {
    const path = `/api/backup-configuration/${id}/schedule`;
    const { body } = await service.json<{ removes_next: { id: number }[] }>("GET", path);
    return body.removes_next.map((one) => one.id);
  };
  const laterBytes = async () => {
    const path = `/api/backup-configuration/${id}/storage-forecast?hold=1`;
    return (await service.json<{ later_bytes: number }>("GET", path)).body.later_bytes;
  };
  // The forecast is that of the copies.
  const { name, frequency } = await service.show(id);
  const exchanged = { storage_provider_id: second, copy_storage_provider_id: disk };
  await service.call("PUT", `/api/backup-configuration/${id}`, { name, frequency, ...exchanged });
  await soon(async () => expect((await service.show(id)).status).toBe("installed"));
  const whilePinned = { removed: await removesNext(), bytes: await laterBytes() };
  await service.call("DELETE", `/api/backup/${pinned.id}/pin`);
  expect(whilePinned).toEqual({
    removed: [last.id, lastCopy?.id],
    bytes: (await laterBytes()) + copy.size,
  });
  expect((await removesNext()).toSorted((a, b) => a - b)).toEqual([
    pinned.id,
    copy.id,
    last.id,
    lastCopy?.id,
  ]);
  await remove(id);
});

test("refuses a second storage that equals the first or does not exist, and the removal of one in use", async () => {
  const wanted = {
    name: "Shop",
    frequency: "30 2 * * *",
    backupable_type: "database",
    backupable_id: 1,
  };
  for (const copy_storage_provider_id of [disk, 99])
    expect(
      keysIn(
        await service.errorsOf("POST", "/api/server/1/backup-configuration", {
          ...wanted,
          storage_provider_id: disk,
          copy_storage_provider_id,
        }),
      ),
    ).toEqual(["copy_storage_provider_id"]);
  const { id } = await twice();
  const path = `/api/backup-configuration/${id}`;
  const { name, frequency } = wanted;
  // The first storage is set to the second one, which is refused.
  expect(
    keysIn(await service.errorsOf("PUT", path, { name, frequency, storage_provider_id: second })),
  ).toEqual(["copy_storage_provider_id"]);
  expect((await service.show(id)).copy_storage_provider_id).toBe(second);
  const { body } = await service.json<{ version: string }>("GET", "/api/inventory");
  const entry = `/api/inventory/storage-providers/${second}?version=${body.version}`;
  expect(await service.messageOf("DELETE", entry)).toContain(
    `cannot be removed while these backup configurations copy to it: ${id}. Choose another storage there first.`,
  );
  const none = { name, frequency, storage_provider_id: disk, copy_storage_provider_id: null };
  expect(await service.statusOf("PUT", path, none)).toBe(200);
  await soon(async () => expect((await service.show(id)).status).toBe("installed"));
  const run = await service.run(id);
  expect(run).toMatchObject({ status: "finished", copies: [] });
  expect((await copyAgain(run.id)).body).toMatchObject({
    message: "The backup configuration has no second storage. Choose one under “Copy to”.",
  });
  expect(await readdir(join(service.folder, "second"))).not.toContain(run.path.split("/")[0]);
  await remove(id);
});

const keysIn = (errors: object) => Object.keys(errors);

const hasZstd = spawnSync("zstd", ["--version"]).error === undefined;

test.skipIf(!hasZstd)(
  "copies an incremental backup with the full that it needs, or in full where the full has no copy",
  async () => {
    const customers = () => service.sql("select customer from orders order by id");
    const { id } = await twice({ incremental: true });
    const full = await service.run(id);
    const patch = await service.run(id);
    expect(patch).toMatchObject({ status: "finished", base_id: full.id });
    const copiedFull = await copyOf(full);
    const copied = await copyOf(patch);
    expect(copied).toMatchObject({ status: "finished", base_id: copiedFull.id });
    expect(await fileOf(copied, "second")).toEqual(await fileOf(patch));
    const named = JSON.parse(
      await readFile(join(service.folder, "second", `${copied.path}.json`), "utf8"),
    );
    expect(named.base.name).toBe(basename(copiedFull.path));
    expect((await service.call("DELETE", `/api/backup/${copiedFull.id}`)).status).toBe(409);

    const before = customers();
    service.sql("insert into orders (customer) values ('lost')");
    await service.call("PUT", `/api/backup/${copied.id}`);
    await service.restored(copied.id, "finished");
    expect(customers()).toEqual(before);

    const { name, frequency, storage_provider_id } = await service.show(id);
    const settings = { name, frequency, storage_provider_id, copy_storage_provider_id: sealed };
    await service.call("PUT", `/api/backup-configuration/${id}`, settings);
    await soon(async () => expect((await service.show(id)).status).toBe("installed"));
    const later = await service.run(id);
    expect(later.base_id).toBe(full.id);
    const alone = (await service.backup(later.id)).copies?.find(
      (one) => one.storage_provider_id === sealed,
    );
    const whole = await service.backup(alone?.id ?? 0);
    expect(whole).toMatchObject({ status: "finished", base_id: null });
    expect(whole.path).toMatch(/\d\.sqlite\.zst\.age$/);
    expect(whole.output).toContain("Storing it in full");
    await service.call("PUT", `/api/backup/${whole.id}`, { identity: identities[0] });
    await service.restored(whole.id, "finished");
    expect(customers()).toEqual(before);

    // A full copy does not fit there, and nothing is stored.
    await service.call("DELETE", `/api/backup/${whole.id}`);
    await service.becomesGone(`/api/backup/${whole.id}`);
    await service.query("update backups set size = 1e15 where id = $1", [full.id]);
    const files = await storedFilesIn(join(service.folder, "sealed"));
    const tooLarge = await service.becomes((await copyAgain(later.id)).body.id, "failed");
    expect(tooLarge.status_reason).toMatch(
      /^Not enough space in .+: .+ free, and in full the backup takes about 1 PB\. /,
    );
    expect(await storedFilesIn(join(service.folder, "sealed"))).toEqual(files);
  },
);

test.skipIf(!hasZstd).each(isLongForm ? ["a full that another identity opens, or none"] : [])(
  "a copy never needs %s",
  async () => {
    const { id } = await twice({ incremental: true, copy_storage_provider_id: sealed });
    const copiedFull = await copyOf(await service.run(id));
    const copiedWith = async (recipients: string[] | null) => {
      await service.query(
        "update storage_providers set entry = (entry - 'recipients') || $2::jsonb where id = $1",
        [sealed, JSON.stringify(recipients === null ? {} : { recipients })],
      );
      const run = await service.run(id);
      expect(run.base_id, run.output).not.toBe(null);
      return copyOf(run);
    };
    const otherwise = await copiedWith([foreign]);
    expect(otherwise).toMatchObject({ status: "finished", base_id: null, encrypted: true });
    expect(await copiedWith(null)).toMatchObject({ base_id: null, encrypted: false });
    const alike = await copiedWith([mine]);
    expect(alike).toMatchObject({ base_id: copiedFull.id, encrypted: true });
    for (const [copy, identity] of [
      [otherwise, identities[1]],
      [alike, identities[0]],
    ] as const) {
      await service.call("PUT", `/api/backup/${copy.id}`, { identity, skip_safety_backup: true });
      await service.restored(copy.id, "finished");
    }
    await remove(id);
  },
);

inLongForm(() => {
  inLongForm(() => {
    test.skipIf(!hasZstd)(
      "what is encrypted in the first storage stays encrypted when it is copied in full",
      async () => {
        await service.query(
          `update storage_providers set entry = entry || '{"drill_identity": "env:IDENTITY"}' where id = $1`,
          [sealed],
        );
        const { id } = await service.installed({ storage_provider_id: sealed, incremental: true });
        await service.run(id);
        await service.run(id);
        const { name, frequency } = await service.show(id);
        const settings = { name, frequency, storage_provider_id: sealed };
        await service.call("PUT", `/api/backup-configuration/${id}`, {
          ...settings,
          copy_storage_provider_id: second,
        });
        await soon(async () => expect((await service.show(id)).status).toBe("installed"));
        const patch = await service.run(id);
        expect(patch.base_id, patch.output).not.toBe(null);
        const copy = await copyOf(patch);
        expect(copy, copy.output).toMatchObject({ status: "finished", base_id: null });
        expect((await fileOf(copy, "second")).subarray(0, 21).toString()).toBe(
          "age-encryption.org/v1",
        );
        expect(copy).toMatchObject({ encrypted: true, path: expect.stringMatching(/\.zst\.age$/) });
        expect(
          await readFile(join(service.folder, "second", `${copy.path}.json`), "utf8"),
        ).toContain(mine);
        const restore = { identity: identities[0], skip_safety_backup: true };
        await service.call("PUT", `/api/backup/${copy.id}`, restore);
        await service.restored(copy.id, "finished");
        await remove(id);
      },
    );
  });
});

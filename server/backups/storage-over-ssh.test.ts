// Tests a local storage on the disk of a server over SSH, through the whole service.
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Page } from "../../contract/paging.ts";
import type { StorageProvider } from "../../contract/servers.ts";
import { sshEntry } from "../ssh/testing/entry.ts";
import { markerName } from "../storage/marker.ts";
import { storedFilesIn } from "../storage/testing/stored-files.ts";
import { casesOf } from "../testing/long-form.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";
import { createRemoteServer } from "../ssh/testing/remote-server.ts";

const remote = createRemoteServer();
const clock = createFakeClock(Date.parse("2026-06-01T12:00:00Z"));
const hourMs = 3_600_000;
let service: BackupTestService;
let copies: string;
/** The server, and the storage on its disk. */
const far = 3;
const onFar = 5;
/** A storage of this machine, with its server in the inventory. */
const onHere = 6;

beforeAll(async () => {
  const connection = sshEntry(await remote.sshd(), undefined, userInfo().username);
  service = await createBackupTestService(
    { clock },
    {
      servers: `  - { id: ${far}, name: web-1, connection: ${connection} }`,
      providers: (folder) =>
        `  - { id: ${onFar}, name: far disk, type: local, server: ${far}, path: ${folder}/far }
  - { id: ${onHere}, name: near disk, type: local, server: 1, path: ${folder}/near }`,
    },
  );
  copies = join(service.folder, "far");
  await mkdir(copies);
});
afterAll(() => service?.close());

const yearly = { storage_provider_id: onFar, frequency: "0 0 1 1 *" };
const filesThere = () => storedFilesIn(copies);

test("a backup is stored there, downloaded, drilled and restored, and removed with its configuration", async () => {
  const { body } = await service.json<Page<StorageProvider>>("GET", "/api/storage-providers");
  expect(body.data.find(({ id }) => id === onFar)?.place).toBe(`${copies} on web-1`);
  const { id } = await service.installed(yearly);
  expect(await readFile(join(copies, markerName), "utf8")).toContain("Quarterdeck keeps backups");
  const backup = await service.run(id);
  expect(backup.status, backup.output).toBe("finished");
  expect(backup.output).toMatch(/free in .*far on web-1\.[^]*verified by reading back/);
  expect(await filesThere()).toEqual([backup.path]);
  expect((await stat(join(copies, backup.path))).mode & 0o777).toBe(0o600);
  expect(await service.files()).toEqual([]);

  const download = await service.call("GET", `/api/backup/${backup.id}/file`);
  const stored = await readFile(join(copies, backup.path));
  expect(Buffer.from(await download.arrayBuffer()).equals(stored)).toBe(true);

  await service.call("POST", `/api/backup/${backup.id}/drill`);
  await soon(async () => {
    const found = await service.backup(backup.id);
    expect(found.drill_status, found.drill_output ?? "").toBe("finished");
  });
  service.sql("delete from orders");
  await service.call("PUT", `/api/backup/${backup.id}`, { skip_safety_backup: true });
  await service.restored(backup.id, "finished");
  expect(service.sql("select count(*) as n from orders")).toEqual([{ n: 2 }]);

  await writeFile(join(copies, backup.path), Buffer.alloc(stored.length));
  await service.call("POST", `/api/backup/${backup.id}/drill`);
  await soon(async () =>
    expect((await service.backup(backup.id)).damage).toMatch(/Checksum mismatch/),
  );
  await service.call("DELETE", `/api/backup-configuration/${id}?files=remove`);
  await service.becomesGone(`/api/backup-configuration/${id}`);
  await soon(async () => expect(await readdir(copies)).toEqual([markerName]));
});

test("a provider that names this machine is a local folder", async () => {
  const near = join(service.folder, "near");
  await mkdir(near);
  const { body } = await service.json<Page<StorageProvider>>("GET", "/api/storage-providers");
  expect(body.data.find(({ id }) => id === onHere)?.place).toBe(near);
  const { id } = await service.installed({ ...yearly, storage_provider_id: onHere });
  const { path } = await service.run(id);
  expect((await stat(join(near, path))).isFile()).toBe(true);
});

test("a token without access to the server does not see its name", async () => {
  const { body: token } = await service.json<{ token: string }>("POST", "/api/tokens", {
    name: "narrow",
    abilities: ["*"],
    server_ids: [1],
  });
  const answer = await service.call("GET", "/api/storage-providers", undefined, token.token);
  expect(answer.status).toBe(200);
  expect(await answer.text()).not.toContain("web-1");
});

test("while its server is unavailable no backup counts as damaged or missing, and removals happen later", async () => {
  const { id } = await service.installed(yearly);
  const kept = await service.run(id);
  const deleted = await service.run(id);
  const sshd = await remote.sshd();
  await sshd.stop();

  const away = /Couldn't reach the storage .*far on web-1: /;
  const failed = await service.run(id);
  expect(failed.status).toBe("failed");
  expect(failed.status_reason).toMatch(away);
  expect(await service.messageOf("GET", `/api/backup/${kept.id}/file`)).toMatch(away);
  await service.call("POST", `/api/backup/${kept.id}/drill`);
  await soon(async () => expect((await service.backup(kept.id)).drill_status).toBe("failed"));
  expect(await service.statusOf("PUT", `/api/backup/${kept.id}`)).toBe(202);
  expect((await service.restored(kept.id, "failed")).restore_output).toMatch(
    /^Couldn't reach the storage .*far on web-1: .* Nothing was changed\.$/m,
  );
  await service.call("DELETE", `/api/backup/${deleted.id}`);
  const undeleted = await service.becomes(deleted.id, "failed");
  expect(undeleted.status_reason).toMatch(
    /Couldn't delete the stored file: Couldn't reach the storage .* on web-1: .*retries within the hour/,
  );
  expect((await service.backup(kept.id)).damage).toBeNull();

  await sshd.start();
  await soon(async () => expect((await service.run(id)).status).toBe("finished"));
  clock.advance(hourMs);
  await service.becomesGone(`/api/backup/${deleted.id}`);
  expect(await filesThere()).toContain(kept.path);
  expect(await filesThere()).not.toContain(deleted.path);
});

const waysToBeAway = {
  "is down": {
    async leave() {
      const sshd = await remote.sshd();
      await sshd.stop();
      return () => sshd.start();
    },
    reason: "(?:refused the connection|was lost)",
  },
  hangs: {
    leave: async () => (await remote.sshd()).hang(),
    reason: "(?:stopped responding|did not start a command in time)",
  },
};

// The test above covers restores while the server is down.
test.each(casesOf(waysToBeAway, []))(
  "a restore from a server that %s reports this, changes nothing, and works afterwards",
  async (_, { leave, reason }) => {
    const { id } = await service.installed(yearly);
    const { id: backupId } = await service.run(id);
    const customers = () => service.sql("select customer from orders order by id");
    const saved = customers();
    service.sql("insert into orders (customer) values ('later')");
    const present = customers();
    const comeBack = await leave();

    expect(await service.statusOf("PUT", `/api/backup/${backupId}`)).toBe(202);
    const failed = await service.restored(backupId, "failed");
    expect(failed.restore_output).toMatch(
      new RegExp(
        `^Couldn't reach the storage .*far on web-1: .*${reason}.* Nothing was changed\\.$`,
        "m",
      ),
    );
    expect(failed).toMatchObject({ status: "finished", damage: null, restored_at: null });
    expect(customers()).toEqual(present);
    // No safety backup was made.
    expect((await service.show(id)).backups.map(({ trigger }) => trigger)).toEqual(["manual"]);

    await comeBack();
    expect(await service.statusOf("PUT", `/api/backup/${backupId}`)).toBe(202);
    await service.restored(backupId, "finished");
    expect(customers()).toEqual(saved);
  },
);

// Tests adoption by a fresh installation of a bucket, a folder on another server, an rclone remote and an SFTP login.
import { mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Adoption } from "../../../contract/backups/adoption.ts";
import { sshEntry } from "../../ssh/testing/entry.ts";
import { createRemoteServer } from "../../ssh/testing/remote-server.ts";
import { startS3, type Gate } from "../../storage/testing/s3.ts";
import { serveByRclone, type RcloneServer } from "../../storage/testing/rclone-server.ts";
import { recoveryName } from "../recovery/recovery-page.ts";
import { isLongForm } from "../../testing/long-form.ts";
import {
  createBackupTestService,
  soon,
  type BackupTestService,
} from "../testing/backup-service.ts";

const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);
const remote = createRemoteServer({ config: "Subsystem sftp internal-sftp" });
let folder: string;
let far: string;
let s3: Gate;
let boxed: string;
let jailed: string;
/** The folder of the remote `all:`. Not `boxed`, whose backups would be found through `all:` as well. */
let whole: string;
let box: RcloneServer | null = null;
let first: BackupTestService;
let second: BackupTestService;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "quarterdeck-adopt-"));
  far = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-far-")));
  s3 = await startS3(folder);
  const connection = isLongForm
    ? sshEntry(await remote.sshd(), undefined, userInfo().username)
    : null;
  const { accessKey, secretKey, endpoint } = s3.options;
  boxed = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-boxed-")));
  jailed = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-jailed-")));
  whole = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-whole-")));
  if (isLongForm) box = await serveByRclone("sftp", boxed);
  const secrets = {
    S3_ACCESS: accessKey,
    S3_SECRET: secretKey,
    RCLONE_BOX: box?.config ?? "",
    RCLONE_ALL: `[all]\ntype = alias\nremote = ${whole}\n`,
  };
  const create = () =>
    createBackupTestService(
      { secrets },
      {
        servers: `  - { id: 3, name: web-1, connection: ${connection ?? "local"} }`,
        providers: () => `  - { id: 5, name: far disk, type: local, server: 3, path: ${far} }
  - { id: 6, name: offsite, type: s3, bucket: copies, endpoint: "${endpoint}", access_key: env:S3_ACCESS, secret_key: env:S3_SECRET, recipients: [${recipient}] }
  - { id: 7, name: box, type: rclone, remote: "served:", config: env:RCLONE_BOX }
  - { id: 9, name: all of it, type: rclone, remote: "all:", config: env:RCLONE_ALL }
  - { id: 10, name: a folder of it, type: rclone, remote: "all:some folder/", config: env:RCLONE_ALL }
${connection === null ? "" : `  - { id: 8, name: jail, type: sftp, path: ${jailed}, ${connection.slice(1, -1)} }`}`,
      },
    );
  first = await create();
  second = await create();
});
afterAll(async () => {
  await first?.close();
  await second?.close();
  await s3?.close();
  await box?.close();
  for (const one of [folder, far, boxed, jailed, whole])
    await rm(one, { recursive: true, force: true });
});

test.each([
  { name: "an encrypted bucket that has locked its files", id: 6 },
  // `npm run soak -- storages` only: adoption is the same as in the first, and the tests of the storages list and read
  // files of each kind.
  ...(isLongForm
    ? [
        { name: "a folder over SSH", id: 5 },
        { name: "a remote of rclone", id: 7 },
        { name: "a login over SFTP", id: 8 },
      ]
    : []),
])("adopts $name, and restores its backups", async ({ id }) => {
  const made = await first.installed({ storage_provider_id: id });
  if (id === 6) s3.lock(new Date("2999-01-02T03:04:05Z"));
  const backups = [await first.run(made.id), await first.run(made.id)];
  expect(backups.map(({ status }) => status)).toEqual(["finished", "finished"]);
  const path = `/api/inventory/storage-providers/${id}/adoption`;
  const { body: adopted } = await second.json<Adoption>("POST", path);
  expect(adopted).toMatchObject({
    adopted: 2,
    left_out: [],
    sources: [{ name: "orders", backups: 2, files: [{}, { path: backups[0]?.path }] }],
  });
  const configuration = await soon(async () => {
    const found = await second.show(adopted.sources[0]?.configuration_id ?? 0);
    expect(found.status, found.status_reason ?? "").toBe("installed");
    return found;
  });
  const [newest] = configuration.backups;
  expect(newest).toMatchObject({
    path: backups[1]?.path,
    checksum: backups[1]?.checksum,
    locked_until: id === 6 ? "2999-01-02T03:04:05.000000Z" : null,
  });
  second.sql("delete from orders");
  expect(newest?.encrypted).toBe(id === 6);
  const body = id === 6 ? { identity, skip_safety_backup: true } : {};
  await second.call("PUT", `/api/backup/${newest?.id}`, body);
  await second.restored(newest?.id ?? 0, "finished");
  expect(second.sql("select count(*) as n from orders")).toEqual([{ n: 2 }]);
  // The safety backup belongs to this installation, and is listed already.
  const known = id === 6 ? 2 : 3;
  expect((await second.json<Adoption>("GET", path)).body).toMatchObject({ known, sources: [] });
  const root = { 5: far, 7: boxed, 8: jailed }[id];
  if (root !== undefined)
    await soon(async () =>
      expect(await readFile(join(root, recoveryName), "utf8")).toContain(backups[1]?.path),
    );
});

test("does not adopt backups again through an rclone remote that contains the storage in which they are listed", async () => {
  await mkdir(join(whole, "some folder"));
  const { id } = await first.installed({ storage_provider_id: 10 });
  const { path } = await first.run(id);
  const adoption = async (service: BackupTestService) =>
    (await service.json<Adoption>("GET", "/api/inventory/storage-providers/9/adoption")).body;
  expect((await adoption(second)).sources).toMatchObject([
    { backups: 1, files: [{ path: `some folder/${path}` }] },
  ]);
  expect(await adoption(first)).toMatchObject({ known: 1, sources: [] });
});

test("refuses an unavailable storage with a message", async () => {
  s3.rule(() => 503);
  const path = "/api/inventory/storage-providers/6/adoption";
  expect(await second.messageOf("POST", path)).toMatch(/bucket copies/);
  s3.rule(() => "pass");
  // `storage-over-ssh.test.ts` tests the messages of such a storage.
  if (!isLongForm) return;
  const sshd = await remote.sshd();
  await sshd.stop();
  expect(await second.messageOf("POST", path.replace("6", "5"))).toMatch(
    /Couldn't reach the storage .* on web-1/,
  );
  await sshd.start();
  await remote.responds();
});

// Tests runs with real faults: each run is `failed` with a helpful message, no partial file stays, and earlier backups
// are untouched.
import { storedFilesIn } from "../storage/testing/stored-files.ts";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backup } from "../../contract/backups/backup.ts";
import { startS3, type Gate } from "../storage/testing/s3.ts";
import {
  createBackupTestService,
  nightly,
  soon,
  type BackupTestService,
} from "./testing/backup-service.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "./testing/postgres-server.ts";

const isRoot = process.getuid?.() === 0;

let folder: string;
let s3: Gate;
let postgres: PostgresServer | null;
let service: BackupTestService;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "quarterdeck-s3-"));
  s3 = await startS3(folder);
  postgres = hasPostgresServer ? await startPostgresServer() : null;
  await postgres?.createDatabase("shop");
  await postgres?.query(
    "shop",
    "create table orders as select i as id, md5(i::text) as noise from generate_series(1, 300000) i",
  );
  const url = new URL(postgres?.url("shop") ?? "postgres://nobody@127.0.0.1:9/shop");
  const wrong = new URL(url);
  wrong.password = "very-wrong-secret";
  const { accessKey, secretKey, endpoint } = s3.options;
  service = await createBackupTestService(
    { secrets: { S3_ACCESS: accessKey, S3_SECRET: secretKey, SHOP: url.href, WRONG: wrong.href } },
    {
      databases: () => `  - { id: 4, server: 1, name: shop, engine: postgres, url: env:SHOP }
  - { id: 5, server: 1, name: locked, engine: postgres, url: env:WRONG }`,
      providers: (
        home,
      ) => `  - { id: 3, name: offsite, type: s3, bucket: copies, endpoint: "${endpoint}", access_key: env:S3_ACCESS, secret_key: env:S3_SECRET }
  - { id: 4, name: keyless, type: s3, bucket: copies, endpoint: "${endpoint}", access_key: env:NOT_SET, secret_key: env:S3_SECRET }
  - { id: 5, name: small, type: local, path: ${home}/small }`,
    },
  );
});
afterAll(async () => {
  await service?.close();
  await s3?.close();
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe("S3", () => {
  const objects = async () =>
    (await readdir(folder, { recursive: true })).filter((name) => name.endsWith("._S3rver_object"));

  test("stores a backup and restores it", async () => {
    // Large enough for several parts.
    await writeFile(join(service.folder, "shop/large"), randomBytes(9_000_000));
    const { id } = await service.installed({ storage_provider_id: 3, backupable_type: "site" });
    const backup = await service.run(id);
    expect(backup.status, backup.output).toBe("finished");
    await writeFile(join(service.folder, "shop/index.php"), "changed");
    await service.call("PUT", `/api/backup/${backup.id}`);
    await service.restored(backup.id, "finished");
    const download = await service.call("GET", `/api/backup/${backup.id}/file`);
    expect((await download.arrayBuffer()).byteLength).toBe(backup.size);
    await service.call("DELETE", `/api/backup-configuration/${id}?files=remove`);
    await soon(async () => expect(await objects()).toEqual([]));
  });

  test("without its key names the missing variable", async () => {
    const { id } = await service.configuration({ storage_provider_id: 4 });
    await soon(async () =>
      expect((await service.show(id)).status_reason).toMatch(
        /variable NOT_SET is not set; the inventory names it as the access_key of storage provider 4/,
      ),
    );
  });
});

test.skipIf(!isRoot)("a full disk fails the run with a message; existing files stay", async () => {
  await rm(join(service.folder, "shop/large"), { force: true });
  const disk = join(service.folder, "small");
  await mkdir(disk);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", disk]);
  try {
    const { id } = await service.installed({ storage_provider_id: 5, backupable_type: "site" });
    const good = await service.run(id);
    await writeFile(join(service.folder, "shop/large"), randomBytes(8_000_000));
    const failed = await service.run(id);
    expect(failed.status).toBe("failed");
    expect(failed.status_reason).toMatch(/No space left in .*small/);
    expect(await storedFilesIn(disk)).toEqual([good.path]);
    expect((await service.backup(good.id)).status).toBe("finished");
    await writeFile(join(service.folder, "shop/large"), randomBytes(1_700_000));
    await service.run(id);
    // A smaller hold frees no space: retention runs after a run.
    await service.call("PUT", `/api/backup-configuration/${id}`, {
      ...nightly,
      storage_provider_id: 5,
      hold: 1,
    });
    await soon(async () => expect((await service.show(id)).status).toBe("installed"));
    const again = await service.run(id);
    expect(again.status_reason).toMatch(/Free some space or delete old backups\.$/);
    for (const { id: old, status } of (await service.show(id)).backups)
      if (status === "finished") await service.call("DELETE", `/api/backup/${old}`);
    await soon(async () => expect(await storedFilesIn(disk)).toEqual([]));
    expect((await service.run(id)).status).toBe("finished");
  } finally {
    // RECOVERY.md may still be written.
    execFileSync("umount", ["--lazy", disk]);
  }
});

describe.skipIf(!hasPostgresServer)("a PostgreSQL database", () => {
  test("with a wrong password fails with a message, without the secret anywhere", async () => {
    const { id } = await service.configuration({ backupable_id: 5 });
    await soon(async () => expect((await service.show(id)).status).toBe("failed"));
    const failed = await service.run(id);
    expect(failed.status_reason).toMatch(/password/i);
    const shown = JSON.stringify([await service.show(id), failed]);
    expect(shown).not.toContain("very-wrong-secret");
  });

  test("whose server stops in the middle fails the run with the tool's message", async () => {
    const { id } = await service.installed({ backupable_id: 4, name: "gone" });
    const files = await service.files();
    const { body } = await service.json<Backup>("POST", `/api/backup/${id}`);
    await soon(async () => expect((await service.backup(body.id)).status).not.toBe("pending"));
    await postgres?.crash();
    const failed = await service.becomes(body.id, "failed");
    // Either an open connection was closed, or the next one was refused.
    expect(failed.output).toMatch(/went away|connection|terminat|Nothing answers at/i);
    expect(await service.files()).toEqual(files);
    await postgres?.start();
  });
});

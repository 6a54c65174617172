// An S3 storage whose responses can be delayed, so that operations last as long as a test needs.
import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Backup, BackupConfiguration } from "../contract/backups/backup.ts";
import { startS3 } from "../server/storage/testing/s3.ts";
import { removeProvider } from "./backup-helpers.ts";
import { test as base, expect } from "./fixtures.ts";

export type Bucket = {
  /** Creates a configuration of a site's folder that is larger than all buffers, with this storage. */
  createConfiguration(): Promise<BackupConfiguration>;
  /**
   * Delays requests from now on.
   * @returns a function that releases them
   */
  hold(): () => void;
  /** From now on, its objects are locked until then. */
  lock(until: Date): void;
  content(backup: Backup): Promise<Buffer>;
};

export const test = base.extend<{ bucket: Bucket }>({
  bucket: async ({ context, service, backups }, provide) => {
    const folder = join(service.folder, `bucket-${backups.server.id}`);
    await mkdir(folder);
    const storage = await startS3(folder);
    const { endpoint, accessKey } = storage.options;
    const key = join(service.folder, "bucket-key");
    await writeFile(key, accessKey, { mode: 0o600 });
    const id = backups.server.id;
    await service.changeInventory(({ storage_providers: providers }) =>
      providers.push(
        `{ id: ${id}, name: bucket-${id}, type: s3, bucket: copies, endpoint: "${endpoint}", access_key: "file:${key}", secret_key: "file:${key}" }`,
      ),
    );
    await expect
      .poll(async () => (await service.call("GET", "/api/storage-providers")).text())
      .toContain(`bucket-${id}`);
    let release = () => {};
    await provide({
      async createConfiguration() {
        await writeFile(join(backups.site.root, "video.bin"), randomBytes(20_000_000));
        return backups.createConfiguration({
          name: "Blog files",
          backupable_type: "site",
          backupable_id: backups.site.id,
          storage_provider_id: id,
        });
      },
      hold() {
        const { promise, resolve } = Promise.withResolvers<"pass">();
        storage.rule(() => promise);
        release = () => resolve("pass");
        return release;
      },
      lock: storage.lock,
      content: ({ path }) => readFile(join(folder, "copies", `${path}._S3rver_object`)),
    });
    release();
    for (const page of context.pages()) await page.goto("about:blank");
    await removeProvider(service, backups, { id, name: `bucket-${id}` });
    await storage.close();
  },
});

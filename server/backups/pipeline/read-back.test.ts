// Tests that the stored file is compared with the sent data before a run is finished.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { createLocalStorage } from "../../storage/local.ts";
import type { Storage } from "../../storage/storage.ts";
import { storeDump } from "./store-dump.ts";

async function store(after: (file: string) => Promise<void>) {
  const root = await mkdtemp(join(tmpdir(), "quarterdeck-read-back-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const local = createLocalStorage({ path: root });
  const storage: Storage = {
    ...local,
    async put(key, content, options) {
      const sizeBytes = await local.put(key, content, options);
      await after(join(root, key));
      return sizeBytes;
    },
  };
  return storeDump({
    storage,
    key: "a/1/b",
    dump: async (into: Writable) => {
      into.end(Buffer.alloc(3_000_000, "quarterdeck"));
      return { kind: "database", tables: {} };
    },
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
}

test("keeps a file that matches what was sent, and records how that was verified", async () => {
  const { verification, checksum } = await store(async () => undefined);
  expect(verification).toMatch(/^verified by reading back/);
  expect(checksum).toMatch(/^[0-9a-f]{64}$/);
});

test("fails the run when the disk returns other content", async () => {
  const garble = (file: string) => writeFile(file, Buffer.alloc(300));
  await expect(store(garble)).rejects.toMatchObject({
    name: "StorageError",
    message: expect.stringMatching(/the data read back from/),
  });
});

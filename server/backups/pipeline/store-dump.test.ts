import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { StorageError, type Storage } from "../../storage/storage.ts";
import { storeDump } from "./store-dump.ts";

/** A disk that fails after it has received the content. */
const failing: Pick<Storage, "place" | "put"> = {
  place: "the test's disk",
  async put(_key, content, { signal }) {
    let failing: NodeJS.Timeout | undefined;
    const into = new Writable({
      write(_piece, _encoding, done) {
        clearTimeout(failing);
        failing = setTimeout(() => into.destroy(new StorageError("No space left.")), 300);
        done();
      },
    });
    await pipeline(content, into, { signal });
    return 0;
  },
};

test("a failing storage ends a waiting dump, e.g. one that waits for a lock", async () => {
  const storing = storeDump({
    // The code under test uses only these members.
    storage: failing as Storage,
    key: "shop.zst",
    async dump(into, signal) {
      // Incompressible, so that some of it reaches the storage.
      into.write(randomBytes(4 * 1024 * 1024));
      await once(signal, "abort");
      throw signal.reason;
    },
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
  await expect(storing).rejects.toThrow("No space left.");
});

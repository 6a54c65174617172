// Tests the limits of one scan of a storage.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLocalStorage } from "../../storage/local.ts";
import type { ListedStorage } from "../../storage/storage.ts";
import { makeRoot } from "../../storage/testing/every-storage.ts";
import { adoptionLimits, readAdoptable } from "./adoptable-files.ts";

const options = {
  isKnown: () => false,
  now: new Date("2026-02-01T00:00:00Z"),
  signal: new AbortController().signal,
};
const keyOf = (day: number, extension = "tar") =>
  `${day}-202601${String(day).padStart(2, "0")}T030000Z-0.${extension}.zst`;

async function makeStorage(
  days: readonly number[],
  change = {},
  extension = "tar",
): Promise<ListedStorage> {
  const root = await makeRoot();
  for (const day of days) {
    const at = `2026-01-${String(day).padStart(2, "0")}T03:00:00.000Z`;
    const manifest = {
      format: "quarterdeck-backup",
      version: 1,
      name: keyOf(day, extension),
      size: 1,
      sha256: "0".repeat(64),
      compression: "zstd",
      uncompressed_size: 1,
      source: { type: "site", engine: "folder", id: 1, name: "shop", server: { id: 1, name: "a" } },
      configuration: { id: 1, name: "Nightly" },
      backup: { id: day, trigger: "schedule" },
      started_at: at,
      stored_at: at,
      tools: {},
      quarterdeck: "0.1.0",
      counts: { kind: "folder", entries: 1, bytes: 1, digest: "0" },
      ...change,
    };
    await writeFile(join(root, keyOf(day, extension)), "x");
    await writeFile(join(root, `${keyOf(day, extension)}.json`), JSON.stringify(manifest));
  }
  return createLocalStorage({ path: root });
}

test("reads the oldest files first, and leaves those beyond its limits to the next scan", async () => {
  const storage = await makeStorage([20, 3, 11]);
  const limits = { ...adoptionLimits, manifests: 2 };
  const { files, unread } = await readAdoptable(storage, { ...options, limits });
  expect(files.map(({ key }) => key)).toEqual([keyOf(3), keyOf(11)]);
  expect(unread).toBe(1);
  const isKnown = (key: string) => key !== keyOf(20);
  const next = await readAdoptable(storage, { ...options, limits, isKnown });
  expect(next).toMatchObject({ known: 2, unread: 0, files: [{ key: keyOf(20) }] });
  const bytes = await readAdoptable(storage, {
    ...options,
    limits: { ...adoptionLimits, allBytes: 600 },
  });
  expect([bytes.files.length, bytes.unread]).toEqual([1, 2]);
  await expect(
    readAdoptable(storage, { ...options, limits: { ...adoptionLimits, objects: 4 } }),
  ).rejects.toThrow(/more than 2 backups, which is too many/);
});

test("reads the oldest files of whole MySQL and MariaDB servers first", async () => {
  const database = { type: "database", engine: "mysql-server", id: 1, name: "all" };
  const source = { ...database, server: { id: 1, name: "a" } };
  const counts = { kind: "database", tables: {} };
  const extension = "mysql-server.tar";
  const storage = await makeStorage([20, 3, 11], { source, counts }, extension);
  const limits = { ...adoptionLimits, manifests: 2 };
  const { files, leftOut } = await readAdoptable(storage, { ...options, limits });
  expect(leftOut).toEqual([]);
  expect(files.map(({ key }) => key)).toEqual([keyOf(3, extension), keyOf(11, extension)]);
});

test.each([
  ["accepts a file during whose run the clock was set back", "2026-01-03T02:59:58.000Z", 1],
  ["omits a file that was stored a week before its run", "2025-12-27T03:00:00.000Z", 0],
])("%s", async (_, stored_at, taken) => {
  const { files, leftOut } = await readAdoptable(await makeStorage([3], { stored_at }), options);
  expect(files).toHaveLength(taken);
  for (const { startedAt, storedAt } of files) expect(storedAt).toEqual(startedAt);
  expect(leftOut.map(({ reason }) => reason)).toEqual(
    taken === 1 ? [] : ["Its manifest gives a time that can't be right."],
  );
});

test("ends in time when the storage hangs, with the files read so far", async () => {
  const storage = await makeStorage([1, 2, 3]);
  const hangs = ({ signal }: { signal: AbortSignal }) =>
    new Promise<never>((_, reject) =>
      signal.addEventListener("abort", () =>
        reject(new Error("aborted", { cause: signal.reason })),
      ),
    );
  const limits = { ...adoptionLimits, ms: 500 };
  const half: ListedStorage = {
    ...storage,
    get: (key, of) => (key.startsWith(keyOf(2)) ? hangs(of) : storage.get(key, of)),
  };
  const { files, unread } = await readAdoptable(half, { ...options, limits });
  expect(files.map(({ key }) => key)).toEqual([keyOf(1), keyOf(3)]);
  expect(unread).toBe(1);
  const mute: ListedStorage = {
    ...storage,
    async *list(of) {
      yield await hangs(of);
    },
  };
  await expect(readAdoptable(mute, { ...options, limits })).rejects.toThrow(
    /could not be listed within 0.5 s/,
  );
  const left = new AbortController();
  const reading = readAdoptable(half, { ...options, signal: left.signal });
  left.abort(new Error("left"));
  await expect(reading).rejects.toThrow("left");
});

import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRunFile, type RunRecord, writeRunFile } from "./run-file.ts";
import { makeFolder } from "./testing/supervisor.ts";

const record: RunRecord = {
  boot: "43a1ed44-29c4-4d6c-a30c-5c1d3d1a1f3b",
  nonce: "0123456789abcdef",
  pid: 4_194_304,
  startTime: "18446744073709551615",
  state: "STOPPING",
  since: 1_700_000_000_000,
  exitCode: 255,
  restarts: 2_147_483_647,
  failures: 2_147_483_647,
  order: 2_147_483_647,
  deployment: 2_147_483_647,
  outages: Array.from({ length: 5 }, () => ({ at: 1_700_000_000_000, backAt: 1_700_000_000_000 })),
};

test("A record is read as it was written, and nobody else may read it", (context) => {
  const path = join(makeFolder(context), "slot-1.json");
  writeRunFile(path, { ...record, pid: null, startTime: null, exitCode: null });
  writeRunFile(path, record);
  expect(readRunFile(path)).toEqual(record);
  expect((statSync(path).mode & 0o777).toString(8)).toBe("600");
});

test("All records have the same size, so that one can overwrite another on a full disk", (context) => {
  const path = join(makeFolder(context), "slot-1.json");
  writeRunFile(path, record);
  expect(readFileSync(path)).toHaveLength(1024);
  writeRunFile(path, { ...record, pid: null, startTime: null });
  expect(readFileSync(path)).toHaveLength(1024);
});

test.for([
  "",
  "{",
  "null",
  "[]",
  JSON.stringify({ ...record, state: "ASLEEP" }),
  '{"pid":1}',
  ...[0, 1, -7, 1.5].map((pid) => JSON.stringify({ ...record, pid })),
])("An invalid record counts as none: %s", (text, context) => {
  const path = join(makeFolder(context), "slot-1.json");
  expect(readRunFile(path)).toBe(null);
  writeFileSync(path, text);
  expect(readRunFile(path)).toBe(null);
});

test("A record that cannot be written causes an error, and leaves nothing behind", (context) => {
  const folder = makeFolder(context);
  const path = join(folder, "slot-1.json");
  mkdirSync(path);
  expect(() => writeRunFile(path, record)).toThrow("EISDIR");
  expect(statSync(`${path}.new`, { throwIfNoEntry: false })).toBe(undefined);
});

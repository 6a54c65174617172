import { expect, test } from "vitest";
import { factItems, versionIn } from "./facts-text.ts";

test.each([
  ["pg_dump (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", "15.18"],
  ["mariadb-dump  Ver 10.19 Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)", "10.11.19"],
  ["*** Zstandard CLI (64-bit) v1.5.4, by Yann Collet ***", "1.5.4"],
  [
    "3.40.1 2022-12-28 14:03:47 df5c253c0b3dd24916e4ec7cf77d3db5294cc9fd45ae7b9c5e82ad8197f3alt1",
    "3.40.1",
  ],
  ["built by hand", "built by hand"],
])("extracts the version in “%s” as %s", (words, version) =>
  expect(versionIn(words)).toBe(version),
);

test("formats sizes, and says what was not found", () => {
  const facts = {
    at: "2026-11-22T10:00:00.000000Z",
    system: null,
    processors: 1,
    load: 0.5,
    memory: 24_105,
    memory_available: 512,
    disk: null,
    disk_available: null,
    tools: [{ name: "zstd", version: null, package: "zstd" }],
  };
  expect(factItems(facts).map(({ term, value }) => `${term}: ${value}`)).toEqual([
    "System: Unknown",
    "Load: 0.5 on 1 processor",
    "Memory: 512 MB of 23.5 GB available",
    "Disk: Unknown",
    "zstd: Not installed",
  ]);
});

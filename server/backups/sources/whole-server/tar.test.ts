import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { makeFolder } from "../../../testing/machine.ts";
import { padding } from "../folder/tar-header.ts";
import { databaseOf, fileOf, manifestIn, tablesIn, withPrefix } from "./names.ts";
import { archiveEnd, headOf, readFiles } from "./tar.ts";

const run = promisify(execFile);
const at = new Date("2026-01-02T03:04:05Z");
const awkward = ["shop", "a.b", "a", "100 %", 'ü/😀 "x"\'\n', "☃".repeat(21), "..", "-rf"];

const archiveOf = (files: Record<string, string>): Buffer =>
  Buffer.concat([
    ...Object.entries(files).flatMap(([path, content]) => {
      const bytes = Buffer.from(content);
      return [headOf(path, bytes.length, at), bytes, padding(bytes.length)];
    }),
    archiveEnd(),
  ]);

/** Streams bytes in pieces that end anywhere. */
const inPieces = (bytes: Buffer, pieceBytes: number): Readable =>
  Readable.from(
    Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, n) =>
      bytes.subarray(n * pieceBytes, (n + 1) * pieceBytes),
    ),
    { objectMode: false },
  );

const files = Object.fromEntries(
  awkward.map((name, index) => [fileOf(name), name.repeat(index * 100)]),
);

test("any name of a database can be read from its file's name, and no two share a table", () => {
  for (const name of awkward) {
    expect(fileOf(name)).toMatch(/^databases\/[\w%-]+\.dump$/);
    expect(databaseOf(fileOf(name))).toBe(name);
  }
  for (const path of ["globals.sql", "databases/../x.dump", "databases/%FF.dump", "x.dump"])
    expect(databaseOf(path)).toBeNull();
  const tables = { ...withPrefix("a", { "b.c": 1 }), ...withPrefix("a.b", { c: 2 }) };
  expect(tablesIn("a", tables)).toEqual({ "b.c": 1 });
  expect(tablesIn("a.b", tables)).toEqual({ c: 2 });
  expect(
    manifestIn("a", { kind: "database", tables, checksums: { by: "x", tables: { "a.t": "1" } } }),
  ).toEqual({
    kind: "database",
    tables: { "b.c": 1 },
    checksums: { by: "x", tables: { t: "1" } },
  });
});

test("is compatible with tar in both directions", async () => {
  const folder = await makeFolder();
  await writeFile(join(folder, "a.tar"), archiveOf(files));
  await run("tar", ["-xf", "a.tar"], { cwd: folder });
  for (const [path, content] of Object.entries(files))
    expect((await run("cat", [path], { cwd: folder })).stdout).toBe(content);
  for (const pieceBytes of [1, 511, 512, 100_000]) {
    const found: Record<string, string> = {};
    for await (const { path, content } of readFiles(inPieces(archiveOf(files), pieceBytes)))
      found[path] = await text(content);
    expect(found).toEqual(files);
  }
});

test("skips the unread rest of a file", async () => {
  const content = "x".repeat(300_000);
  const archive = archiveOf({ "a.dump": content, "b.dump": content, "c.dump": content });
  const found: [string, number][] = [];
  for await (const { path, content } of readFiles(inPieces(archive, 1000))) {
    if (path === "a.dump") content.destroy();
    if (path === "b.dump") content.read(10);
    found.push([path, path === "c.dump" ? (await buffer(content)).length : 0]);
  }
  expect(found).toEqual([
    ["a.dump", 0],
    ["b.dump", 0],
    ["c.dump", content.length],
  ]);
});

test("refuses an archive that is truncated anywhere, and a file that is not one", async () => {
  const archive = archiveOf({ "globals.sql": "select 1;", [fileOf("shop")]: "x".repeat(2000) });
  const readAll = async (bytes: Buffer) => {
    for await (const { content } of readFiles(inPieces(bytes, 700))) await buffer(content);
  };
  for (let length = 0; length < archive.length - 1024; length += 300)
    await expect(readAll(archive.subarray(0, length))).rejects.toThrow(/cut off/);
  await expect(readAll(Buffer.from(`PGDMP${"x".repeat(5000)}`))).rejects.toThrow(
    /isn't an archive/,
  );
  async function* damaged() {
    yield archive.subarray(0, 1700);
    throw new Error("damaged on the way");
  }
  const reading = async () => {
    for await (const { content } of readFiles(Readable.from(damaged()))) await buffer(content);
  };
  await expect(reading()).rejects.toThrow("damaged on the way");
});

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { createLocalHost } from "../../hosts/local.ts";
import { openForeign } from "./unpack.ts";

test("does not report zstd data with a too large window as damaged", async () => {
  // RFC 8878, section 3.1.1: magic number, a frame with a window of 2 GB, and one raw last block. To compress with such a
  // window, zstd would need as much memory.
  const head = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x29, 0x00, 0x00];
  const packed = Buffer.concat([Buffer.from(head), Buffer.from("words")]);
  const host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/" });
  await expect(openForeign(host, Readable.from([packed]))).rejects.toThrow(
    "The file is compressed by zstd with a window of more than 128 MB. Unpack it first: zstd -d --long=31 FILE",
  );
});

test.each<[string, (text: Buffer) => Buffer]>([
  ["plain", (text) => text],
  ["with a byte order mark", (text) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), text])],
  ["compressed", (text) => gzipSync(text, { level: 0 })],
])("a reader that stops early closes a slow file: %s", async (_, pack) => {
  const host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/" });
  const from = new PassThrough();
  // More than is read to detect the format; the stream never ends.
  from.write(pack(Buffer.from("select 1;\n".repeat(100_000))));
  const { content } = await openForeign(host, from);
  const closed = once(from, "close");
  for await (const _piece of content) break;
  await closed;
  expect(from.readableEnded).toBe(false);
});

test.each(["xz", "bzip2"])("doesn't call a file damaged because %s is killed", async (program) => {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-unpack-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, program), "#!/bin/sh\nkill -KILL $$\n", { mode: 0o755 });
  const host = createLocalHost({ PATH: `${folder}:${process.env["PATH"]}`, HOME: "/" });
  const packed = execFileSync(program, { input: "select 1;\n" });
  await expect(openForeign(host, Readable.from([packed]))).rejects.toThrow(
    `The file could not be unpacked: ${program} was killed, probably because the machine ran out of memory.`,
  );
});

test("reports trailing data after the zstd frames", async () => {
  const host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/" });
  const text = "select 1;\n".repeat(10);
  const frame = zstdCompressSync(text);
  const read = async (...pieces: Buffer[]) =>
    (await buffer((await openForeign(host, Readable.from(pieces))).content)).toString();
  expect(await read(frame, Buffer.concat([frame, frame]))).toBe(text.repeat(3));
  const damaged = Buffer.from(frame);
  damaged[0] = 0;
  for (const after of [damaged, Buffer.from("x"), Buffer.concat([damaged, frame])])
    await expect(read(frame, after)).rejects.toThrow(
      `its zstd compression ends after ${frame.length} of ${frame.length + after.length} bytes`,
    );
});

test("skips a byte order mark before SQL text, and keeps it in the first name of a tar archive", async () => {
  const host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/" });
  const mark = Buffer.from([0xef, 0xbb, 0xbf]);
  const read = async (...pieces: Buffer[]) => {
    const { kind, content } = await openForeign(host, Readable.from(pieces));
    return { kind, content: await buffer(content) };
  };
  const dump = Buffer.from("-- MySQL dump 10.13\nSELECT 1;\n");
  const expected = { kind: "mysql-sql", content: dump };
  expect(await read(mark, dump)).toEqual(expected);
  expect(await read(mark.subarray(0, 2), Buffer.concat([mark.subarray(2), dump]))).toEqual(
    expected,
  );
  expect(await read(zstdCompressSync(Buffer.concat([mark, dump])))).toEqual(expected);
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-unpack-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "\ufeffa"), "content");
  const archive = execFileSync("tar", ["-C", folder, "-c", "\ufeffa"]);
  expect(await read(archive)).toEqual({ kind: "tar", content: archive });
});

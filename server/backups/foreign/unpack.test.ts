import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createLocalHost } from "../../hosts/local.ts";
import { openForeign } from "./unpack.ts";

test("what zstd packed with a window that is too large is not called damaged", async () => {
  // By RFC 8878, section 3.1.1: magic number, a frame with a window of 2 GB, and one last block as it is. To pack it with such a
  // window, zstd would need as much memory.
  const head = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x29, 0x00, 0x00];
  const packed = Buffer.concat([Buffer.from(head), Buffer.from("words")]);
  const host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/" });
  await expect(openForeign(host, Readable.from([packed]))).rejects.toThrow(
    "The file is compressed by zstd with a window of more than 128 MB. Unpack it first: zstd -d --long=31 FILE",
  );
});

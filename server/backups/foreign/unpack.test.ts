import { spawnSync } from "node:child_process";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createLocalHost } from "../../hosts/local.ts";
import { openForeign } from "./unpack.ts";

const zstd = (...options: string[]) => spawnSync("zstd", ["-c", ...options], { input: "words" });

test.skipIf(zstd().error !== undefined)(
  "what zstd packed with a window that is too large is not called damaged",
  async () => {
    const packed = zstd("--long=31").stdout;
    const host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/" });
    await expect(openForeign(host, Readable.from([packed]))).rejects.toThrow(
      "The file is compressed by zstd with a window of more than 128 MB. Unpack it first: zstd -d --long=31 FILE",
    );
  },
);

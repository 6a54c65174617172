// Patches without changes, opened by Node's zstd and by the program that the manual names.
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constants, zstdDecompressSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { makeSameContent, minSameBytes } from "./same-content.ts";

const block = 128 * 1024;
/** Returns sizes around a limit. */
const around = (size: number) => [-2, -1, 0, 1, 2, 3].map((more) => size + more);
const borders = [1024, block, block + minSameBytes, 2 * block, 2 * block + minSameBytes, 2 ** 22];

test("reproduces the full's content for each size, with a few bytes per block", () => {
  const smallest = Array.from({ length: 300 }, (_, more) => minSameBytes + more);
  const noise = randomBytes(2 ** 22 + 3);
  for (const size of [...smallest, ...borders.flatMap(around)]) {
    const full = noise.subarray(0, size);
    const patch = makeSameContent(size);
    const params = { [constants.ZSTD_d_windowLogMax]: 31 };
    const content = zstdDecompressSync(patch, { dictionary: full, params });
    expect(content.equals(full), `${size} bytes`).toBe(true);
    expect(patch.length).toBeLessThan(10 + 16 * (size / block + 1));
    expect(patch.length).toBeLessThan(size);
  }
});

test.skipIf(spawnSync("zstd", ["--version"]).error !== undefined)(
  "is decompressed by zstd, even beyond its default window",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "quarterdeck-same-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const full = join(folder, "full");
    for (const size of [minSameBytes, block, block + 1, 3 * block + 7, 2 ** 27 + 5]) {
      writeFileSync(full, randomBytes(Math.min(size, 1_000_000)));
      truncateSync(full, size);
      writeFileSync(join(folder, "patch"), makeSameContent(size));
      const open = "zstd -dc --long=31 --patch-from=full patch 2>errors | cmp - full";
      execFileSync("bash", ["-o", "pipefail", "-c", open], { cwd: folder });
    }
    // A missing or a wrong full is reported.
    const without = ["-c", "zstd -dc --long=31 patch"];
    expect(spawnSync("bash", without, { cwd: folder }).status).not.toBe(0);
  },
);

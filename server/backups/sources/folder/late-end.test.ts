// Tests an archive whose stream ends late: tar exits at the archive's end mark, a restore must not.
import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createMachines, makeSite, wordOf } from "./testing/fixtures.ts";
import { inShortFormIf } from "../../../testing/long-form.ts";

/** Delay after which tar has exited. What follows is more than all buffers on the way hold. */
const lateMs = 500;

const cases = createMachines().flatMap((machine) =>
  [false, true].map((isPacked) => ({ ...machine, isPacked })),
);

describe.each(cases)("on $machine, unpacked there: $isPacked", (its) => {
  const { machine, makeSource, isPacked } = its;
  /** @param zeros bytes after the archive's end mark */
  async function makeArchive(zeros = 0) {
    const made = await makeSource();
    await makeSite(made.root, "old");
    const archive = Buffer.concat([(await made.dump()).archive, Buffer.alloc(zeros)]);
    await rm(made.root, { recursive: true });
    await makeSite(made.root, "new");
    const packed = isPacked ? await made.source.unpacking?.(made.attempt().signal) : null;
    const content = packed == null ? archive : zstdCompressSync(archive);
    const restoreFrom = (end: () => void) =>
      (packed ?? made.source).restore(
        Readable.from(
          (async function* () {
            yield content;
            await wait(lateMs);
            end();
          })(),
          { objectMode: false },
        ),
        made.attempt(),
      );
    return { word: () => wordOf(made.root), restoreFrom };
  }

  test("waits for the end", async () => {
    const { word, restoreFrom } = await makeArchive();
    await restoreFrom(() => undefined);
    expect(await word()).toBe("old");
  });

  inShortFormIf(isPacked || machine === "this machine", () => {
    test("an input that breaks off changes nothing", async () => {
      const { word, restoreFrom } = await makeArchive();
      await expect(
        restoreFrom(() => {
          throw new Error("It is not what was stored.");
        }),
      ).rejects.toThrow("It is not what was stored.");
      expect(await word()).toBe("new");
    });
  });

  inShortFormIf(isPacked || machine === "this machine", () => {
    test("reads what follows the end mark, too", async () => {
      const { word, restoreFrom } = await makeArchive(6_000_000);
      await restoreFrom(() => undefined);
      expect(await word()).toBe("old");
    });
  });
});

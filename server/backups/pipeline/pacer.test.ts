import { randomBytes } from "node:crypto";
import { array, assert, asyncProperty, integer, nat } from "fast-check";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { zstdDecompressSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { createLocalStorage } from "../../storage/local.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { isLongForm } from "../../testing/long-form.ts";
import { createPace } from "./pacer.ts";
import { storeDump } from "./store-dump.ts";

const never = new AbortController().signal;

async function* chunksOf(sizes: readonly number[]) {
  for (const [index, size] of sizes.entries()) yield Buffer.alloc(size, index + 1);
}

test("never passes more than the rate allows plus one piece, and keeps all data in order", async () => {
  const sizes = array(nat(60_000), { minLength: 1, maxLength: 12 });
  await assert(
    asyncProperty(
      sizes,
      integer({ min: 10_000, max: 200_000 }),
      nat(),
      async (list, rate, seed) => {
        const clock = createFakeClock();
        const startMs = clock.now();
        const pieceBytes = Math.max(1024, rate / 10);
        const passed: { atMs: number; bytes: number; piece: Buffer }[] = [];
        const state = { isOver: false };
        const reading = (async () => {
          let bytes = 0;
          for await (const piece of createPace(rate, clock)(chunksOf(list), never)) {
            expect(piece.length).toBeLessThanOrEqual(pieceBytes);
            bytes += piece.length;
            passed.push({ atMs: clock.now() - startMs, bytes, piece: Buffer.from(piece) });
          }
          state.isOver = true;
        })();
        for (let step = 0; !state.isOver; step += 1) {
          // The number of turns that a generator needs to reach its next wait.
          for (let count = 0; count < 4; count += 1) await turn();
          if (!state.isOver) clock.advance(1 + ((seed + step * 7) % 90));
        }
        await reading;
        const total = list.reduce((sum, size) => sum + size, 0);
        for (const { atMs, bytes } of passed)
          expect(bytes).toBeLessThanOrEqual((rate * atMs) / 1000 + pieceBytes + 1);
        expect(Buffer.concat(passed.map(({ piece }) => piece))).toEqual(
          Buffer.concat(await Array.fromAsync(chunksOf(list))),
        );
        expect(passed.at(-1)?.bytes ?? 0).toBe(total);
      },
    ),
    { numRuns: isLongForm ? 300 : 20 },
  );
});

test("a clock that is set back delays a stream by at most one piece", async () => {
  const clock = createFakeClock();
  const pieces = createPace(10_000, clock)(chunksOf([5_000]), never)[Symbol.asyncIterator]();
  await pieces.next();
  clock.jump(-3_600_000);
  const next = pieces.next();
  await turn();
  clock.advance(110);
  expect((await next).done).toBe(false);
});

test("an abort ends a wait at once", async () => {
  const clock = createFakeClock();
  const ending = new AbortController();
  const pieces = createPace(10_000, clock)(chunksOf([5_000]), ending.signal)[
    Symbol.asyncIterator
  ]();
  await pieces.next();
  const next = pieces.next();
  await turn();
  ending.abort(new Error("canceled"));
  await expect(next).rejects.toThrow("canceled");
});

test.each([
  ["compressed here", false],
  ["that comes compressed", true],
])("stores a complete dump %s at a limited speed", async (_, isCompressed) => {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-pace-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { compressHere } = await import("./packing.ts");
  const content = randomBytes(400_000);
  const packed = compressHere(1);
  packed.into.end(content);
  const archive = Buffer.concat(await packed.out.toArray());
  const clock = createFakeClock();
  let ms = 0;
  // Each wait ends at once, and its duration is added up.
  const quick = {
    ...clock,
    after: (delayMs: number, run: () => void) => {
      ms += delayMs;
      clock.jump(delayMs);
      queueMicrotask(run);
      return () => undefined;
    },
  };
  const stored = await storeDump({
    storage: createLocalStorage({ path: folder }),
    key: "a/1/b",
    dump: async (into) => {
      into.end(isCompressed ? archive : content);
      const manifest = { kind: "database", tables: {} } as const;
      return isCompressed ? () => manifest : manifest;
    },
    compressed: isCompressed ? { content: "other" } : null,
    pace: createPace(100_000, quick),
    signal: never,
    onProgress: () => undefined,
  });
  expect(zstdDecompressSync(await readFile(join(folder, "a/1/b")))).toEqual(content);
  // The pacer waits for all but the last piece, which takes a tenth of a second.
  const wholeMs = (stored.sizeBytes * 1000) / 100_000;
  expect(ms).toBeLessThanOrEqual(wholeMs);
  expect(ms).toBeGreaterThanOrEqual(wholeMs - 101);
});

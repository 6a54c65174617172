// Tests that a connection cut at any moment leaves nothing stored, nothing half restored and nothing running on the server.
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { makeFolder } from "../../../testing/machine.ts";
import {
  cutInRounds,
  cutsLimitMs,
  cutWords,
  failureOf,
  measureMs,
  nothingRuns,
  runningTools,
} from "../../../ssh/testing/cuts.ts";
import type { RemoteServer } from "../../../ssh/testing/remote-server.ts";
import { createLocalStorage } from "../../../storage/local.ts";
import { storeDump } from "../../pipeline/store-dump.ts";
import { createCollector } from "../../testing/collector.ts";
import type { Attempt, Source } from "../source.ts";

export type Subject = {
  source: Source;
  /** Fills the whole content with a word. */
  fill(word: string): Promise<void>;
  /** Returns the word that fills the whole content, or another text. */
  read(): Promise<string>;
  /** Text in the arguments, environment or files of this subject's tools, by which they are found among all processes. */
  mark: string;
};

const attemptOf = (signal = new AbortController().signal): Attempt => ({
  id: 7,
  say: () => undefined,
  signal,
});

/**
 * @param remote the server of the source
 * @param runsOn whether a tool still runs when its first output has arrived; false if all its output fits into a pipe
 */
export function keepsItsPromises(
  remote: RemoteServer,
  make: () => Promise<Subject>,
  { runsOn = true } = {},
): void {
  /** Cleans up, over a new connection, what a cut connection prevented. */
  async function putsInOrder(source: Source): Promise<void> {
    await remote.responds();
    await source.rehearse(AbortSignal.timeout(60_000));
  }

  test(
    "an interrupted run fails with a message, stores nothing and leaves nothing running",
    { timeout: cutsLimitMs },
    async () => {
      const { source, fill, read, mark } = await make();
      await fill("old");
      const folder = await makeFolder();
      const storage = createLocalStorage({ path: folder });
      const run = async () => {
        const { signal } = new AbortController();
        const compressed = (await source.compressed?.(signal)) ?? null;
        return storeDump({
          storage,
          key: "a/1/b",
          dump: (into, ending) => (compressed ?? source).dump(into, attemptOf(ending)),
          compressed,
          signal,
          onProgress: () => undefined,
        });
      };
      const lengthMs = await measureMs(run);
      await rm(join(folder, "a"), { recursive: true });
      await cutInRounds(remote, {
        lengthMs,
        work: () => failureOf(run()),
        async check(failure) {
          if (failure === null) await storage.remove("a/1/b");
          else expect(failure).toMatch(cutWords);
          const files = await readdir(folder, { recursive: true });
          expect(files.filter((name) => /b/.test(name))).toEqual([]);
          await nothingRuns(mark);
        },
      });
      await putsInOrder(source);
      expect(await read()).toBe("old");
    },
  );

  test(
    "an interrupted restore leaves the old or the new content, complete, and nothing running",
    { timeout: cutsLimitMs },
    async () => {
      const { source, fill, read, mark } = await make();
      await fill("new");
      const { into, content } = createCollector();
      await source.dump(into, attemptOf());
      const restore = () => source.restore(Readable.from([content()]), attemptOf());
      const lengthMs = await measureMs(restore);
      expect(await read()).toBe("new");
      await cutInRounds(remote, {
        lengthMs,
        prepare: () => fill("old"),
        work: () => failureOf(restore()),
        async check(failure) {
          if (failure !== null) expect(failure).toMatch(cutWords);
          await nothingRuns(mark);
          await putsInOrder(source);
          const word = await read();
          if (failure === null) expect(word).toBe("new");
          else expect(["old", "new"]).toContain(word);
        },
      });
    },
  );

  test.runIf(runsOn)(
    "canceling a run ends its tool on the server",
    async () => {
      const { source, fill, mark } = await make();
      await fill("old");
      const controller = new AbortController();
      const { into, begun } = createCollector(new Promise(() => undefined));
      const running = failureOf(source.dump(into, attemptOf(controller.signal)));
      const early = running.then((failure) => {
        throw new Error(`It ended before it had begun: ${failure ?? "with success"}`);
      });
      await Promise.race([begun, early]);
      expect(await runningTools(mark)).not.toEqual([]);
      controller.abort(new Error("Canceled by ops."));
      expect(await running).toBe("Canceled by ops.");
      await nothingRuns(mark);
    },
    60_000,
  );
}

// Cuts the connection to a test's own server at moments spread over a piece of work. A cut that shows a defect can be made again.
import { readdir, readFile, readlink } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { expect, vi } from "vitest";
import { makeRandom, makeSeed } from "../../testing/random.ts";
import type { RemoteServer } from "./remote-server.ts";

/** `npm run soak -- cuts` has 20. */
export const cutRounds = Number(process.env["CUT_ROUNDS"] ?? 1);
const seed = makeSeed("CUT_SEED");
/** The share of the work after which each cut comes, in place of one by chance. */
const only = process.env["CUT_AT"];

/** For a test of cuts; milliseconds. */
export const cutsLimitMs = 120_000 + cutRounds * 60_000;

type Work = {
  /** How long it takes uncut; milliseconds. */
  lengthMs: number;
  /** Before each cut. */
  prepare?(): Promise<unknown>;
  /** @returns why it failed, in words; null where it did not */
  work(): Promise<string | null>;
  /** Looks at what is left behind the cut. */
  check(failure: string | null): Promise<unknown>;
};

/** What failed, in words; null where nothing did. */
export const failureOf = (work: Promise<unknown>): Promise<string | null> =>
  work.then(
    () => null,
    (error: Error) => error.message,
  );

export async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/** @throws with the moment of the cut whose check failed, and how it is made again */
export async function cutInRounds(
  remote: RemoteServer,
  { lengthMs, prepare, work, check }: Work,
): Promise<void> {
  const sshd = await remote.sshd();
  const random = makeRandom(seed);
  for (let round = 0; round < cutRounds;) {
    // Spread over the work, none twice the same.
    const share = only === undefined ? (round + random()) / cutRounds : Number(only);
    const momentMs = share * lengthMs;
    try {
      await prepare?.();
      await remote.responds();
      let isOver = false;
      const ending = work().finally(() => (isOver = true));
      // Looked at below.
      ending.catch(() => undefined);
      await wait(momentMs);
      // It was shorter than was thought, and nothing is cut.
      if (isOver) lengthMs *= 0.8;
      else {
        await sshd.cut();
        round += 1;
      }
      await check(await ending);
    } catch (cause) {
      const again = `CUT_AT=${share.toFixed(4)} has all cuts there, CUT_SEED=${seed} CUT_ROUNDS=${cutRounds} makes the same ones again.`;
      throw new Error(
        `Cut ${round} of ${cutRounds}, ${Math.round(momentMs)} of ${Math.round(lengthMs)} ms after the beginning: ${again}`,
        { cause },
      );
    }
  }
}

const tools =
  /^(?:\S*\/)?(?:pg_dump|pg_restore|psql|zstd|tar|find|mariadb|mariadb-dump|sqlite3|cat|cmp|dd|mv|sha256sum)\0/;

/**
 * Tools that run now, whoever started them.
 * @param mark what tells those of a test from all others of the machine: of their arguments, environment or files
 */
export async function runningTools(mark: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const texts = await Promise.all(
      [
        ...["cmdline", "environ"].map((name) => readFile(`/proc/${pid}/${name}`, "latin1")),
        ...["cwd", "fd/0"].map((name) => readlink(`/proc/${pid}/${name}`)),
      ].map((text) => text.catch(() => "")),
    );
    const [line = ""] = texts;
    if (tools.test(line) && texts.some((text) => text.includes(mark)))
      found.push(line.replaceAll("\0", " "));
  }
  return found;
}

export const nothingRuns = (mark: string): Promise<void> =>
  vi.waitFor(async () => expect(await runningTools(mark)).toEqual([]), { timeout: 20_000 });

/** How a cut connection is told. */
export const cutWords = /was lost|ended the session|refused the connection|went away/i;

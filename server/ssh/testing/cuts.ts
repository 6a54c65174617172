// Cuts the connection to a test's server at moments spread over a piece of work. A cut that finds a bug can be repeated.
import { readdir, readFile, readlink } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { expect, vi } from "vitest";
import { makeRandom, makeSeed } from "../../testing/random.ts";
import type { RemoteServer } from "./remote-server.ts";

/** `npm run soak -- cuts` has 20. */
export const cutRounds = Number(process.env["CUT_ROUNDS"] ?? 1);
const seed = makeSeed("CUT_SEED");
/** Share of the work after which each cut comes, in place of a random one. */
const only = process.env["CUT_AT"];

/** Timeout of a test with cuts, in milliseconds. */
export const cutsLimitMs = 120_000 + cutRounds * 60_000;

type Work = {
  /** Duration without a cut, in milliseconds. */
  lengthMs: number;
  /** Runs before each cut. */
  prepare?(): Promise<unknown>;
  /** @returns the error message; null = the work succeeded */
  work(): Promise<string | null>;
  /** Checks the state after the cut. */
  check(failure: string | null): Promise<unknown>;
};

/** Returns the error message of some work; null = it succeeded. */
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

/** @throws Error with the moment of the cut whose check failed, and how to repeat it */
export async function cutInRounds(
  remote: RemoteServer,
  { lengthMs, prepare, work, check }: Work,
): Promise<void> {
  const sshd = await remote.sshd();
  const random = makeRandom(seed);
  for (let round = 0; round < cutRounds;) {
    // A random moment within the round's part of the work.
    const share = only === undefined ? (round + random()) / cutRounds : Number(only);
    const momentMs = share * lengthMs;
    try {
      await prepare?.();
      await remote.responds();
      let isOver = false;
      const ending = work().finally(() => (isOver = true));
      // Awaited below.
      ending.catch(() => undefined);
      await wait(momentMs);
      // The work ended before the cut, so it is shorter than measured.
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
 * Returns command lines of tools that run now.
 * @param mark text in the arguments, environment or files of a test's own tools
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

/** Matches the error messages of a cut connection. */
export const cutWords = /was lost|ended the session|refused the connection|went away/i;

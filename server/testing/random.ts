// Chance that can be played again: a test prints its seed, and takes it from the environment.

/**
 * The same for each `npm test`, which is to fail for a change and not by chance; `npm run soak` draws a new one.
 * @param variable of the environment that holds a seed to be played again
 */
export const makeSeed = (variable = "CRASH_SEED"): number =>
  Number(
    process.env[variable] ??
      (process.env["SEEDS"] === "random" ? Math.floor(Math.random() * 2 ** 31) : 1),
  );

/** A small repeatable source of chance (mulberry32); each call answers 0 ≤ n < 1. */
export function makeRandom(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

// Provides repeatable random numbers: a test prints its seed, and reads it from the environment.

/**
 * Returns the same seed in each `npm test`, which must not fail by chance; `npm run soak` draws a random one.
 * @param variable environment variable with a seed to repeat
 */
export const makeSeed = (variable = "CRASH_SEED"): number =>
  Number(
    process.env[variable] ??
      (process.env["SEEDS"] === "random" ? Math.floor(Math.random() * 2 ** 31) : 1),
  );

/** Returns a generator of repeatable random numbers (mulberry32), 0 ≤ n < 1. */
export function makeRandom(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

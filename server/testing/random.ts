// Chance that can be played again: a test prints its seed, and takes it from the environment.

export const makeSeed = (): number =>
  Number(process.env["CRASH_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

/** A small repeatable source of chance (mulberry32); each call answers 0 ≤ n < 1. */
export function makeRandom(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

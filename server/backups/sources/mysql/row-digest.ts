// Computes a checksum of rows that does not depend on their order: the sum of a hash of each row. Fast enough for a dump while it
// streams. It detects accidental changes, not forgery.

/** Two lanes of MurmurHash3 (x86, 32 bits), https://github.com/aappleby/smhasher/wiki/MurmurHash3, with seeds of their own. */
const seeds = [0x2f1b_ad03, 0x51c0_ffee] as const;

const mix = (word: number, first: number, second: number): number => {
  const product = Math.imul(word, first);
  return Math.imul((product << 15) | (product >>> 17), second);
};
const step = (hash: number, mixed: number, plus: number): number => {
  const folded = hash ^ mixed;
  return (Math.imul((folded << 13) | (folded >>> 19), 5) + plus) | 0;
};
const end = (hash: number, bytes: number): number => {
  let ended = hash ^ bytes;
  ended = Math.imul(ended ^ (ended >>> 16), 0x85eb_ca6b);
  ended = Math.imul(ended ^ (ended >>> 13), 0xc2b2_ae35);
  return (ended ^ (ended >>> 16)) >>> 0;
};

export type RowDigest = ReturnType<typeof createRowDigest>;

const stepOne = (hash: number, word: number) =>
  step(hash, mix(word, 0xcc9e_2d51, 0x1b87_3593), 0xe654_6b64);
const stepOther = (hash: number, word: number) =>
  step(hash, mix(word, 0x239b_961b, 0xab0e_9789), 0x561c_cd1b);

export function createRowDigest() {
  // In an array, because 32-bit numbers in a variable that outlives a call are allocated each time.
  const lanes = new Int32Array(seeds);
  const sums = new Uint32Array(2);
  let bytes = 0;
  /** Bytes that do not fill a word of four yet. */
  let tail = 0;
  let tailBytes = 0;

  const endWord = () => {
    lanes[0] = stepOne(lanes[0] ?? 0, tail);
    lanes[1] = stepOther(lanes[1] ?? 0, tail);
    tail = 0;
    tailBytes = 0;
  };
  const byte = (value: number) => {
    tail |= value << (8 * tailBytes);
    tailBytes += 1;
    if (tailBytes === 4) endWord();
  };

  return {
    /** Adds a piece of the current row. */
    update(piece: DataView, from: number, to: number): void {
      bytes += to - from;
      let at = from;
      const wordFrom = Math.min(to, from + ((4 - tailBytes) % 4));
      while (at < wordFrom) byte(piece.getUint8(at++));
      let one = lanes[0] ?? 0;
      let other = lanes[1] ?? 0;
      for (; at + 4 <= to; at += 4) {
        const word = piece.getInt32(at, true);
        one = stepOne(one, word);
        other = stepOther(other, word);
      }
      lanes[0] = one;
      lanes[1] = other;
      while (at < to) byte(piece.getUint8(at++));
    },
    /** Ends the current row. */
    endRow(): void {
      if (tailBytes > 0) endWord();
      sums[0] = (sums[0] ?? 0) + end(lanes[0] ?? 0, bytes);
      sums[1] = (sums[1] ?? 0) + end(lanes[1] ?? 0, bytes);
      lanes.set(seeds);
      bytes = 0;
    },
    /** Returns 16 hex digits for all rows so far; zeros for no rows. */
    sum: (): string => [...sums].map((sum) => sum.toString(16).padStart(8, "0")).join(""),
  };
}

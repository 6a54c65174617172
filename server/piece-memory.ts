// Memory for the pieces of a stream of gigabytes, used again and again: what is allocated for each one is garbage after it,
// and cleaning up looks through the whole heap.

const pieceBytes = 1024 * 1024;

export type PieceMemory = ReturnType<typeof createPieceMemory>;

export function createPieceMemory() {
  const free: Buffer[] = [];
  const own = new WeakSet<ArrayBufferLike>();
  return {
    /** For one piece. */
    take(): Buffer {
      const found = free.pop();
      if (found !== undefined) return found;
      const made = Buffer.allocUnsafeSlow(pieceBytes);
      own.add(made.buffer);
      return made;
    },
    /** Takes a piece that is not needed any more, of whatever memory; what was not given here is left alone. */
    giveBack({ buffer }: Buffer): void {
      if (own.has(buffer)) free.push(Buffer.from(buffer));
    },
  };
}

// Memory for the pieces of a stream of gigabytes, used again and again: what is allocated for each one is garbage after it,
// and cleaning up looks through the whole heap.

const pieceBytes = 1024 * 1024;

/** Each buffer that zlib fills, wherever `freeOutput` is used. */
export const outputBytes = 1024 * 1024;

/**
 * Gives the memory of a piece of zlib's output back at once, when that piece and all before it are not needed any more.
 * zlib fills one buffer after the other, and 64 MB of them would wait for the garbage collector; it is done with one that
 * is full.
 */
export function freeOutput({ buffer, byteOffset, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && byteOffset + byteLength === outputBytes) buffer.transfer(0);
}

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

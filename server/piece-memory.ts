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

/** Which one each piece is of. */
const memories = new WeakMap<ArrayBufferLike, PieceMemory>();

export type PieceMemory = {
  /** For one piece. */
  take(): Buffer;
  /** Takes a piece that is not needed any more, of whatever memory; what was not given here is left alone. */
  giveBack(piece: Buffer): void;
};

export function createPieceMemory(): PieceMemory {
  const free: Buffer[] = [];
  const memory: PieceMemory = {
    take() {
      const found = free.pop();
      if (found !== undefined) return found;
      const made = Buffer.allocUnsafeSlow(pieceBytes);
      memories.set(made.buffer, memory);
      return made;
    },
    giveBack({ buffer }) {
      if (memories.get(buffer) === memory) free.push(Buffer.from(buffer));
    },
  };
  return memory;
}

/** For the last one who has a piece, wherever it is from. */
export const giveBackPiece = (piece: Buffer): void => memories.get(piece.buffer)?.giveBack(piece);

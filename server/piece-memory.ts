// Reusable memory for the pieces of streams of gigabytes: allocating each piece would create garbage, and collecting it scans the
// whole heap.

const pieceBytes = 1024 * 1024;

/** Size of the buffers that zlib fills, wherever `freeOutput` is used. */
export const outputBytes = 1024 * 1024;

/** Frees the memory of a buffer at once, if nothing else is in it. Much of it would wait for the garbage collector otherwise. */
export function freeBuffer({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) buffer.transfer(0);
}

/**
 * Frees the memory of a piece of zlib's output at once, when that piece and all before it are no longer needed. zlib fills one
 * buffer after the other, and 64 MB of them would wait for the garbage collector; a full buffer is not used by zlib again.
 */
export function freeOutput({ buffer, byteOffset, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && byteOffset + byteLength === outputBytes) buffer.transfer(0);
}

/** The memory that each piece belongs to. */
const memories = new WeakMap<ArrayBufferLike, PieceMemory>();

export type PieceMemory = {
  /** Returns memory for one piece. */
  take(): Buffer;
  /** Takes back a piece that is no longer needed, from any such memory; ignores all others. */
  giveBack(piece: Uint8Array): void;
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
export const giveBackPiece = (piece: Uint8Array): void =>
  memories.get(piece.buffer)?.giveBack(piece);

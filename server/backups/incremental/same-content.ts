// Writes a patch whose content equals that of its full backup, without reading either. The `zstd` program and the libraries would
// have to read both contents for such a patch.

/** A shorter block would not be smaller than its content, which RFC 8878, 3.1.1.3, requires. */
export const minSameBytes = 131;

/** Most content of a block (RFC 8878, 3.1.1.2.4). */
const maxBlockBytes = 128 * 1024;

/**
 * A frame of zstd (RFC 8878) for which `zstd -d --patch-from=FULL` gives the content of the full. Each block is a single match: it
 * copies up to 128 KiB from as far back as the full is long, since the full lies just before the content (5, "Content").
 * @param sizeBytes of the content of the full: from `minSameBytes` to 2^31 - 1
 * @returns some 15 bytes for each 128 KiB
 */
export function makeSameContent(sizeBytes: number): Buffer {
  const blocks = lengthsOf(sizeBytes).map((length, index, { length: count }) =>
    makeBlock(length, sizeBytes, index === count - 1),
  );
  return Buffer.concat([makeHeader(sizeBytes), ...blocks]);
}

/** Returns the lengths of the blocks, each at least `minSameBytes`. */
function lengthsOf(sizeBytes: number): number[] {
  const lengths: number[] = [];
  for (let left = sizeBytes; left > 0; left -= lengths.at(-1) ?? left)
    lengths.push(left <= maxBlockBytes ? left : Math.min(maxBlockBytes, left - minSameBytes));
  return lengths;
}

/** 3.1.1.1: the size of the content in four bytes, no checksum, and a window that reaches back to the full until the end. */
function makeHeader(sizeBytes: number): Buffer {
  const windowLog = Math.max(10, bitsOf(sizeBytes - 1));
  const header = Buffer.from([
    0x28,
    0xb5,
    0x2f,
    0xfd,
    0b1000_0000,
    (windowLog - 10) << 3,
    0,
    0,
    0,
    0,
  ]);
  header.writeUInt32LE(sizeBytes, 6);
  return header;
}

/** 3.1.1.3: no literals, and one sequence. Its three codes are tables of one symbol (RLE), which take no bits of the stream. */
function makeBlock(length: number, offset: number, isLast: boolean): Buffer {
  // 3.1.1.3.2.1.1. Values up to 3 stand for offsets of before, and from 131 on the codes of lengths are powers of two, from 43 on.
  const offsetValue = offset + 3;
  const offsetCode = bitsOf(offsetValue) - 1;
  const lengthBits = bitsOf(length - 3) - 1;
  const lengthCode = lengthBits + 36;
  // Read from its end: a one as the end mark, which is the highest bit of the offset here, the rest of the offset, the rest of the length.
  const stream = offsetValue * 2 ** lengthBits + (length - 3 - 2 ** lengthBits);
  const streamBytes = Math.ceil((offsetCode + 1 + lengthBits) / 8);
  const block = Buffer.alloc(9 + streamBytes);
  const typeCompressed = 2;
  block.writeUIntLE(((block.length - 3) << 3) | (typeCompressed << 1) | Number(isLast), 0, 3);
  block.set([0, 1, 0b01_01_01_00, 0, offsetCode, lengthCode], 3);
  block.writeUIntLE(stream, 9, streamBytes);
  return block;
}

/** Returns the number of bits of a number below 2^32. */
const bitsOf = (value: number): number => 32 - Math.clz32(value);

// Writes a patch whose content equals that of its full backup, without reading either. The `zstd` program and the libraries would
// have to read both contents for such a patch.

/** Least content of a block: RFC 8878, 3.1.1.3, requires a compressed block to be smaller than its content. */
export const minSameBytes = 131;

/** Most content of a block (RFC 8878, 3.1.1.2.4). */
const maxBlockBytes = 128 * 1024;

/**
 * Returns a zstd frame (RFC 8878) from which `zstd -d --patch-from=FULL` produces the content of the full backup. Each block is a
 * single match of up to 128 KiB, at an offset of the size of the full: the full, as a dictionary, precedes the content (5, "Content").
 * The frame takes about 15 bytes for each 128 KiB.
 * @param sizeBytes size of the content of the full: from `minSameBytes` to 2^31 - 1
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

/** Returns the frame header (3.1.1.1): a content size of four bytes, no checksum, and a window that reaches the full from every block. */
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

/** Returns a compressed block (3.1.1.3) of no literals and one sequence, whose three codes are RLE-coded and take no bits of the stream. */
function makeBlock(length: number, offset: number, isLast: boolean): Buffer {
  // 3.1.1.3.2.1.1: offset values up to 3 are repeat offsets; from length 131 and code 43 on, baselines of match lengths are 3 + 2^n.
  const offsetValue = offset + 3;
  const offsetCode = bitsOf(offsetValue) - 1;
  const lengthBits = bitsOf(length - 3) - 1;
  const lengthCode = lengthBits + 36;
  // Read from its end: a 1 bit as end mark, which here is the highest bit of the offset value, then the extra bits of offset and length.
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

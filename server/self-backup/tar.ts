// Writes and reads the archive of Quarterdeck itself: a plain ustar of small files, which every tar reads.
// https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html#tag_20_94_13_06
import { SelfBackupError } from "./self-backup-error.ts";

const blockBytes = 512;
/** Maximum size of a table's part, so that no one needs more memory than for one part. */
export const partBytes = 4 * 1024 * 1024;
/** Limit of files that are not split: the inventory and the list of checksums. */
const maxMemberBytes = 64 * 1024 * 1024;

export type Member = { name: string; content: Buffer };

/** @param name at most 100 ASCII characters */
export function tarMember({ name, content }: Member, modifiedAt: Date): Buffer {
  if (name.length > 100) throw new Error(`${name} is too long for an archive.`);
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, at: number, length: number) =>
    header.write(value.toString(8).padStart(length - 1, "0"), at, "latin1");
  header.write(name, 0, "latin1");
  octal(0o600, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(content.length, 124, 12);
  octal(Math.floor(modifiedAt.getTime() / 1000), 136, 12);
  header.write("0", 156, "latin1");
  header.write("ustar", 257, "latin1");
  header.write("00", 263, "latin1");
  octal(checksumOf(header), 148, 7);
  header.write("\0 ", 154, "latin1");
  return Buffer.concat([header, content, Buffer.alloc(padding(content.length))]);
}

export const tarEnd = (): Buffer => Buffer.alloc(2 * blockBytes);

const padding = (bytes: number) => (blockBytes - (bytes % blockBytes)) % blockBytes;

/** Sum of all header bytes, with spaces in place of the checksum itself. */
function checksumOf(header: Buffer): number {
  let sum = 8 * 0x20;
  for (const [at, byte] of header.entries()) if (at < 148 || at >= 156) sum += byte;
  return sum;
}

/**
 * Reads the files of an archive, one after the other.
 * @throws SelfBackupError the archive was not written by Quarterdeck, is damaged or incomplete
 */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<Member> {
  const pieces = source[Symbol.asyncIterator]();
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  const take = async (bytes: number): Promise<Buffer> => {
    while (heldBytes < bytes) {
      const { value, done } = await pieces.next();
      if (done === true) throw new SelfBackupError("The archive is cut off: it has no end.");
      held.push(value);
      heldBytes += value.length;
    }
    const all = held.length === 1 && held[0] ? Buffer.from(held[0]) : Buffer.concat(held);
    held = [all.subarray(bytes)];
    heldBytes = all.length - bytes;
    return all.subarray(0, bytes);
  };
  try {
    for (;;) {
      const header = await take(blockBytes);
      if (header.every((byte) => byte === 0)) break;
      const octal = (at: number, length: number) =>
        Number.parseInt(header.toString("latin1", at, at + length), 8);
      const size = octal(124, 12);
      const isFile = header.toString("latin1", 156, 157) === "0";
      if (octal(148, 8) !== checksumOf(header) || !isFile || !(size <= maxMemberBytes))
        throw new SelfBackupError("The archive is damaged, or none of Quarterdeck.");
      const name = header.toString("latin1", 0, header.indexOf(0));
      const content = Buffer.from(await take(size));
      await take(padding(size));
      yield { name, content };
    }
    // Reads to the end, so that decompression and decryption verify everything.
    while ((await pieces.next()).done !== true);
  } finally {
    await pieces.return?.();
  }
}

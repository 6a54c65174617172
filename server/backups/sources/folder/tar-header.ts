// Reads and writes headers of a tar archive: ustar, pax records and GNU's numbers.
// Layout: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html and the GNU manual's "Storing Sparse Files".

export const blockBytes = 512;
/** Attributes of one entry take kilobytes; an archive with more is not one of ours. */
export const extendedHeaderLimitBytes = 16 * 1024 * 1024;
/** Types whose size field is followed by content; links, devices and folders have none. */
const typesWithoutContent = new Set(["1", "2", "3", "4", "5", "6"]);

/** @returns bytes of content after a header of this type, with the padding of the last block */
export const contentBytes = (type: string, sizeBytes: number): number =>
  typesWithoutContent.has(type) ? 0 : Math.ceil(sizeBytes / blockBytes) * blockBytes;

const zeroBlock = Buffer.alloc(blockBytes);
export const isZero = (block: Buffer): boolean => block[0] === 0 && block.equals(zeroBlock);

const magicStart = 257;
const magicWord = Buffer.from("usta").readUInt32BE();

/** Whether a header has the mark that pax and GNU archives share. tar itself verifies the checksum of each header. */
export const isSound = (header: Buffer): boolean => header.readUInt32BE(magicStart) === magicWord;

const sumAt = 148;
const sumBytes = 8;

/** Whether the checksum of a header is correct, which every tar format has, also one without a mark. */
export function hasHeaderSum(header: Buffer): boolean {
  const said = /^ *([0-7]+)[ \0]/.exec(header.toString("latin1", sumAt, sumAt + sumBytes))?.[1];
  return said !== undefined && Number.parseInt(said, 8) === sumOf(header);
}

/** Returns the checksum of a header, whose own field counts as spaces. */
function sumOf(header: Buffer): number {
  const summed = Buffer.from(header.subarray(0, blockBytes)).fill(" ", sumAt, sumAt + sumBytes);
  return summed.reduce((total, byte) => total + byte, 0);
}

/** Returns the type of an entry; `0` also for old and contiguous files. */
export function typeOf(header: Buffer): string {
  const type = String.fromCharCode(header[156] ?? 0);
  return type === "\0" || type === "7" ? "0" : type;
}

/** Reads octal digits, or a big-endian binary number after a set high bit (GNU, for numbers that are too large for octal). */
export function numberAt(header: Buffer, start: number, length: number): number {
  const isBinary = ((header[start] ?? 0) & 0x80) !== 0;
  let value = isBinary ? (header[start] ?? 0) & 0x7f : 0;
  for (let at = isBinary ? start + 1 : start; at < start + length; at += 1) {
    const byte = header[at] ?? 0;
    if (isBinary) value = value * 256 + byte;
    else if (byte >= digitZero && byte <= digitSeven) value = value * 8 + byte - digitZero;
  }
  return value;
}

const digitZero = 0x30;
const digitSeven = 0x37;

/** Returns the bytes up to a NUL, one character per byte, because a path need not be UTF-8. */
export function textAt(bytes: Buffer, start: number, length: number): string {
  const end = bytes.indexOf(0, start);
  return bytes.toString("latin1", start, end === -1 || end > start + length ? start + length : end);
}

/** Whether a header is POSIX: GNU's own format has a space after the mark, and times in the place of the path's prefix. */
const isPosix = (header: Buffer): boolean => header[262] === 0;

export function pathOf(header: Buffer): string {
  const prefix = isPosix(header) ? textAt(header, 345, 155) : "";
  const name = textAt(header, 0, 100);
  return prefix === "" ? name : `${prefix}/${name}`;
}

const usedKeys = new Set([
  "size",
  "path",
  "linkpath",
  "GNU.sparse.realsize",
  "GNU.sparse.size",
  "GNU.sparse.name",
]);

/** `raw` is the whole record, with its length and its newline, one character per byte. */
export type PaxRecord = { key: string; value: string; raw: string };

/**
 * Parses records, "<length> <key>=<value>\n". The length includes itself, so that values may contain anything.
 * @returns null where the content is no list of records
 */
export function listRecords(content: Buffer): PaxRecord[] | null {
  const text = content.toString("latin1");
  const records: PaxRecord[] = [];
  const beginning = /(\d{1,8}) ([^=]+)=/y;
  for (let at = 0; at < text.length;) {
    beginning.lastIndex = at;
    const [, length, key = ""] = beginning.exec(text) ?? [];
    const end = at + Number(length);
    if (!(end > beginning.lastIndex) || text[end - 1] !== "\n") return null;
    const value = text.slice(beginning.lastIndex, end - 1);
    records.push({ key, value, raw: text.slice(at, end) });
    at = end;
  }
  return records;
}

/** @returns the values of `usedKeys` by key; null where the content is no list of records */
export function paxRecords(content: Buffer): Record<string, string> | null {
  const records = listRecords(content);
  if (records === null) return null;
  return Object.fromEntries(
    records.filter(({ key }) => usedKeys.has(key)).map(({ key, value }) => [key, value]),
  );
}

const sizeAt = 124;
/** First size that is too large for eleven octal digits. */
const octalLimitBytes = 8 ** 11;

/** @returns a copy of a header with another size */
export function withSize(header: Buffer, sizeBytes: number): Buffer {
  const changed = Buffer.from(header);
  if (sizeBytes < octalLimitBytes)
    changed.write(`${sizeBytes.toString(8).padStart(11, "0")}\0`, sizeAt, "latin1");
  else {
    // GNU's format, which all current tars read: a set high bit, then the number in binary.
    changed.fill(0, sizeAt, sizeAt + 12);
    changed[sizeAt] = 0x80;
    changed.writeBigUInt64BE(BigInt(sizeBytes), sizeAt + 4);
  }
  changed.write(`${sumOf(changed).toString(8).padStart(6, "0")}\0 `, sumAt, "latin1");
  return changed;
}

const typeAt = 156;
const targetAt = 157;
const targetBytes = 100;

/** @returns a copy of the header of a file, or of a hard link to it, as a file of another size */
export function asFile(header: Buffer, sizeBytes: number): Buffer {
  const changed = Buffer.from(header);
  changed.write("0", typeAt, "latin1");
  changed.fill(0, targetAt, targetAt + targetBytes);
  return withSize(changed, sizeBytes);
}

export const padding = (sizeBytes: number): Buffer =>
  Buffer.alloc((blockBytes - (sizeBytes % blockBytes)) % blockBytes);

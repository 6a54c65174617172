// Reads the headers of a tar archive: ustar, pax records and GNU's numbers.
// Layout: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html and the GNU manual's "Storing Sparse Files".

export const blockBytes = 512;
/** Attributes of one entry take kilobytes; what asks for more memory is no archive of ours. */
export const extendedHeaderLimitBytes = 16 * 1024 * 1024;
/** Types whose size field is followed by content; links, devices and folders have none. */
const typesWithoutContent = new Set(["1", "2", "3", "4", "5", "6"]);

/** @returns bytes of content behind a header of this type, with the padding of the last block */
export const contentBytes = (type: string, sizeBytes: number): number =>
  typesWithoutContent.has(type) ? 0 : Math.ceil(sizeBytes / blockBytes) * blockBytes;

const zeroBlock = Buffer.alloc(blockBytes);
export const isZero = (block: Buffer): boolean => block[0] === 0 && block.equals(zeroBlock);

const magicStart = 257;
const magicWord = Buffer.from("usta").readUInt32BE();

/** The mark that pax and GNU archives share; tar itself holds each header against its sum. */
export const isSound = (header: Buffer): boolean => header.readUInt32BE(magicStart) === magicWord;

const sumAt = 148;
const sumBytes = 8;

/** Each archive of tar has this sum in its headers, also one of a format that has no mark. */
export function hasHeaderSum(header: Buffer): boolean {
  const said = /^ *([0-7]+)[ \0]/.exec(header.toString("latin1", sumAt, sumAt + sumBytes))?.[1];
  return said !== undefined && Number.parseInt(said, 8) === sumOf(header);
}

/** Its own field counts as spaces. */
function sumOf(header: Buffer): number {
  const summed = Buffer.from(header.subarray(0, blockBytes)).fill(" ", sumAt, sumAt + sumBytes);
  return summed.reduce((total, byte) => total + byte, 0);
}

/** Old and contiguous files are files, too. */
export function typeOf(header: Buffer): string {
  const type = String.fromCharCode(header[156] ?? 0);
  return type === "\0" || type === "7" ? "0" : type;
}

/** Octal digits, or big-endian binary behind a set high bit (GNU, for what octal cannot hold). */
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

/** Bytes up to a NUL, one character each: a path need not be UTF-8. */
export function textAt(bytes: Buffer, start: number, length: number): string {
  const end = bytes.indexOf(0, start);
  return bytes.toString("latin1", start, end === -1 || end > start + length ? start + length : end);
}

/** GNU's own format has a space behind its mark, and times where POSIX has the path's beginning. */
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

/** `raw` is the record as it stands, with its length and its newline; one character is one byte. */
export type PaxRecord = { key: string; value: string; raw: string };

/**
 * Records are "<length> <key>=<value>\n"; the length counts itself, so values may hold anything.
 * @returns null where it is no list of records
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

/** @returns the values that are used here by their keys, or null where it is no list of records */
export function paxRecords(content: Buffer): Record<string, string> | null {
  const records = listRecords(content);
  if (records === null) return null;
  return Object.fromEntries(
    records.filter(({ key }) => usedKeys.has(key)).map(({ key, value }) => [key, value]),
  );
}

const sizeAt = 124;
/** What eleven octal digits can say. */
const octalLimitBytes = 8 ** 11;

/** @returns a copy of a header that says another size */
export function withSize(header: Buffer, sizeBytes: number): Buffer {
  const changed = Buffer.from(header);
  if (sizeBytes < octalLimitBytes)
    changed.write(`${sizeBytes.toString(8).padStart(11, "0")}\0`, sizeAt, "latin1");
  else {
    // GNU's way, which all of today's tars read: a set high bit, then the number in binary.
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

/** @returns a copy of a file's header, or of a link's to it, that says another size */
export function asFile(header: Buffer, sizeBytes: number): Buffer {
  const changed = Buffer.from(header);
  changed.write("0", typeAt, "latin1");
  changed.fill(0, targetAt, targetAt + targetBytes);
  return withSize(changed, sizeBytes);
}

export const padding = (sizeBytes: number): Buffer =>
  Buffer.alloc((blockBytes - (sizeBytes % blockBytes)) % blockBytes);

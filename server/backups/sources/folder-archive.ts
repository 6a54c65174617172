// Reads the headers of a tar stream while it passes: how many entries, how large, a digest over what they say, and
// whether the archive has its end mark. GNU tar takes an archive that breaks off between two entries for a whole one.
// Layout: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html (ustar, pax) and the GNU manual's "Storing Sparse Files".
import { createHash } from "node:crypto";
import { Transform } from "node:stream";

export type ArchiveSummary = {
  entries: number;
  /** Content of files as they lie on the disk, holes counted. */
  bytes: number;
  /** Hex SHA-256 over type, mode, size, path and link target of each entry: what must be the same wherever it is extracted. */
  digest: string;
  /** It has come to its end mark, and every header was sound. */
  isWhole: boolean;
};

const blockBytes = 512;
/** Attributes of one entry take kilobytes; what asks for more memory is no archive of ours. */
const extendedHeaderLimitBytes = 16 * 1024 * 1024;
const digestLotCharacters = 32 * 1024;
/** Types whose size field is followed by content; links, devices and folders have none. */
const typesWithoutContent = new Set(["1", "2", "3", "4", "5", "6"]);

export function createArchiveInspector() {
  const hash = createHash("sha256");
  let unhashed = "";
  let entries = 0;
  let bytes = 0;
  let zeroBlocks = 0;
  let isBroken = false;
  let skipBytes = 0;
  let extended: Record<string, string> = {};
  let collecting: { type: string; sizeBytes: number; parts: Buffer[] } | null = null;
  const partial = Buffer.alloc(blockBytes);
  let partialBytes = 0;

  const readHeader = (header: Buffer) => {
    if (isZero(header)) {
      zeroBlocks += 1;
      return;
    }
    zeroBlocks = 0;
    if (!isSound(header)) {
      isBroken = true;
      return;
    }
    const type = typeOf(header);
    const sizeBytes = Number(extended["size"] ?? numberAt(header, 124, 12));
    if (!typesWithoutContent.has(type)) skipBytes = Math.ceil(sizeBytes / blockBytes) * blockBytes;
    if ("xgLK".includes(type)) {
      if (sizeBytes > extendedHeaderLimitBytes) isBroken = true;
      else if (skipBytes > 0) collecting = { type, sizeBytes, parts: [] };
      return;
    }
    const realBytes = Number(
      extended["GNU.sparse.realsize"] ?? extended["GNU.sparse.size"] ?? sizeBytes,
    );
    entries += 1;
    if (type === "0") bytes += realBytes;
    const path = extended["GNU.sparse.name"] ?? extended["path"] ?? pathOf(header);
    const target = extended["linkpath"] ?? textAt(header, 157, 100);
    const mode = numberAt(header, 100, 8).toString(8);
    unhashed += `${type}\0${mode}\0${type === "0" ? realBytes : 0}\0${path}\0${target}\0`;
    if (unhashed.length > digestLotCharacters) flush();
    extended = {};
  };

  const readExtended = ({ type, sizeBytes, parts }: NonNullable<typeof collecting>) => {
    const [first] = parts;
    const whole = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
    const content = whole.subarray(0, sizeBytes);
    if (type === "x") extended = { ...extended, ...paxRecords(content) };
    if (type === "L") extended["path"] = textAt(content, 0, sizeBytes);
    if (type === "K") extended["linkpath"] = textAt(content, 0, sizeBytes);
  };

  const flush = () => {
    hash.update(unhashed, "latin1");
    unhashed = "";
  };

  const isGoingOn = () => zeroBlocks < 2 && !isBroken;

  const inspect = (chunk: Buffer) => {
    let at = 0;
    while (at < chunk.length && isGoingOn()) {
      if (skipBytes > 0) {
        const taken = Math.min(skipBytes, chunk.length - at);
        // A copy: the chunk's memory may be used again.
        collecting?.parts.push(Buffer.from(chunk.subarray(at, at + taken)));
        skipBytes -= taken;
        at += taken;
        if (skipBytes === 0 && collecting !== null) {
          readExtended(collecting);
          collecting = null;
        }
      } else if (partialBytes === 0 && chunk.length - at >= blockBytes) {
        readHeader(chunk.subarray(at, at + blockBytes));
        at += blockBytes;
      } else {
        const taken = chunk.copy(partial, partialBytes, at, at + blockBytes - partialBytes);
        partialBytes += taken;
        at += taken;
        if (partialBytes === blockBytes) {
          partialBytes = 0;
          readHeader(partial);
        }
      }
    }
  };

  return {
    inspect,
    /** Inspects what passes, and passes it on unchanged. */
    stream: new Transform({
      transform(chunk: Buffer, _encoding, done) {
        inspect(chunk);
        done(null, chunk);
      },
    }),
    /** Once, after the stream. */
    summary(): ArchiveSummary {
      flush();
      const isWhole = zeroBlocks >= 2 && !isBroken;
      return { entries, bytes, digest: hash.digest("hex"), isWhole };
    },
  };
}

export type ArchiveInspector = ReturnType<typeof createArchiveInspector>;

const zeroBlock = Buffer.alloc(blockBytes);
const isZero = (block: Buffer): boolean => block[0] === 0 && block.equals(zeroBlock);

const magicStart = 257;
const magicWord = Buffer.from("usta").readUInt32BE();

/** The mark that pax and GNU archives share; tar itself holds each header against its sum. */
const isSound = (header: Buffer): boolean => header.readUInt32BE(magicStart) === magicWord;

/** Old and contiguous files are files, too. */
function typeOf(header: Buffer): string {
  const type = String.fromCharCode(header[156] ?? 0);
  return type === "\0" || type === "7" ? "0" : type;
}

/** Octal digits, or big-endian binary behind a set high bit (GNU, for what octal cannot hold). */
function numberAt(header: Buffer, start: number, length: number): number {
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
function textAt(bytes: Buffer, start: number, length: number): string {
  const end = bytes.indexOf(0, start);
  return bytes.toString("latin1", start, end === -1 || end > start + length ? start + length : end);
}

function pathOf(header: Buffer): string {
  const prefix = textAt(header, 345, 155);
  const name = textAt(header, 0, 100);
  return prefix === "" ? name : `${prefix}/${name}`;
}

/** Records are "<length> <key>=<value>\n"; the length counts itself, so values may hold anything. */
function paxRecords(content: Buffer): Record<string, string> {
  const text = content.toString("latin1");
  const records: Record<string, string> = {};
  for (let at = 0; at < text.length;) {
    const length = Number.parseInt(text.slice(at, at + 12), 10);
    if (!(length > 0)) break;
    const record = text.slice(text.indexOf(" ", at) + 1, at + length - 1);
    const equals = record.indexOf("=");
    records[record.slice(0, equals)] = record.slice(equals + 1);
    at += length;
  }
  return records;
}

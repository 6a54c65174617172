// Inspects the headers of a tar stream: counts entries and bytes, computes a digest of the headers, and checks the end mark, because
// GNU tar accepts an archive that ends between two entries as complete.
// Layout: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html (ustar, pax) and the GNU manual's "Storing Sparse Files".
import { createHash } from "node:crypto";
import { Transform } from "node:stream";
import {
  blockBytes,
  contentBytes,
  extendedHeaderLimitBytes,
  isSound,
  isZero,
  numberAt,
  pathOf,
  paxRecords,
  textAt,
  typeOf,
} from "./tar-header.ts";

export type ArchiveSummary = {
  entries: number;
  /** Bytes of files as on the disk, including holes. */
  bytes: number;
  /** Hex SHA-256 over type, mode, size, path and link target of each entry, which are the same wherever it is extracted. */
  digest: string;
  /** Whether the end mark was reached, and every header was valid. */
  isWhole: boolean;
};

const digestLotCharacters = 32 * 1024;

/** An entry, according to its headers. */
export type ArchiveEntry = {
  /** As archived, one character per byte, e.g. `./public/index.php`. */
  path: string;
  /** tar's letter: `0` a file, `5` a folder, `2` a symbolic link. */
  type: string;
  /** Bytes of the content on the disk, including holes. */
  bytes: number;
  /** Seconds since 1970. */
  modified: number;
  /** Target of a link, one character per byte. */
  target: string;
};

/** @param onEntry called with each entry, in the order of the archive */
export function createArchiveInspector(onEntry?: (entry: ArchiveEntry) => void) {
  const hash = createHash("sha256");
  let unhashed = "";
  let entries = 0;
  let bytes = 0;
  let zeroBlocks = 0;
  let isBroken = false;
  let skipBytes = 0;
  let extended: Record<string, string> = {};
  /** Types of the extension headers so far for the next entry. */
  let given = "";
  let collecting: { type: string; sizeBytes: number; parts: Buffer[] } | null = null;
  let hasMore = false;
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
    // An entry has at most one extension header of each type. More of them could exhaust the memory.
    if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0 || given.includes(type)) {
      isBroken = true;
      return;
    }
    skipBytes = contentBytes(type, sizeBytes);
    if ("xgLK".includes(type)) {
      if (sizeBytes > extendedHeaderLimitBytes) isBroken = true;
      else if (type !== "g") {
        given += type;
        if (skipBytes > 0) collecting = { type, sizeBytes, parts: [] };
      }
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
    onEntry?.({
      path,
      type,
      bytes: type === "0" ? realBytes : 0,
      modified: Number(extended["mtime"] ?? numberAt(header, 136, 12)),
      target,
    });
    extended = {};
    given = "";
  };

  const readExtended = ({ type, sizeBytes, parts }: NonNullable<typeof collecting>) => {
    const [first] = parts;
    const whole = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
    const content = whole.subarray(0, sizeBytes);
    if (type === "x") {
      const records = paxRecords(content);
      if (records === null) isBroken = true;
      else extended = { ...extended, ...records };
    }
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
        // Copied, because the chunk's memory may be reused.
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
    if (zeroBlocks >= 2 && !hasMore) hasMore = chunk.subarray(at).some((byte) => byte !== 0);
  };

  return {
    inspect,
    /** Inspects the archive, and passes it on unchanged. */
    stream: new Transform({
      transform(chunk: Buffer, _encoding, done) {
        inspect(chunk);
        done(null, chunk);
      },
    }),
    /** Whether more than padding follows the end mark, such as another archive, which tar ignores. */
    hasMore: () => hasMore,
    /** Returns the summary. To be called once, after the stream has ended. */
    summary(): ArchiveSummary {
      flush();
      const isWhole = zeroBlocks >= 2 && !isBroken;
      return { entries, bytes, digest: hash.digest("hex"), isWhole };
    },
  };
}

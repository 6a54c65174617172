// Parses the headers of one entry in a piece of a tar archive, and rewrites them for other content.
import {
  blockBytes,
  contentBytes,
  extendedHeaderLimitBytes,
  isSound,
  isZero,
  listRecords,
  numberAt,
  padding,
  pathOf,
  textAt,
  typeOf,
  asFile,
  withSize,
  type PaxRecord,
} from "./tar-header.ts";

export type Entry = {
  /** As archived, one character per byte, e.g. `./db/shop.sqlite`. */
  path: string;
  /** `0` is a file, `1` a hard link to an earlier file. */
  type: string;
  /** For a link: the path of the earlier file. */
  target: string;
  isSparse: boolean;
  /** Bytes of the content in the archive, with the padding. */
  contentBytes: number;
  /** Offset of the content in the piece. */
  contentAt: number;
  header: Buffer;
  extension: { header: Buffer; records: PaxRecord[] } | null;
};

/** `part`: the piece ends within the headers. `other`: the end of the archive, or an unknown header. */
type ReadEntry = Entry | "part" | "other";

export function readEntry(piece: Buffer, start: number): ReadEntry {
  let extension: Entry["extension"] = null;
  for (let at = start; ;) {
    if (piece.length - at < blockBytes) return "part";
    const header = piece.subarray(at, at + blockBytes);
    if (isZero(header) || !isSound(header)) return "other";
    const type = typeOf(header);
    const records: PaxRecord[] = extension?.records ?? [];
    const said = (key: string) => records.findLast((record) => record.key === key)?.value;
    const sizeBytes = Number(said("size") ?? numberAt(header, 124, 12));
    const bytes = contentBytes(type, sizeBytes);
    at += blockBytes;
    if (type !== "x") {
      // Global headers and GNU's long names, which tar does not write in this format, count as entries of their own.
      const isSparse = records.some(({ key }) => key.startsWith("GNU.sparse."));
      const path = said("GNU.sparse.name") ?? said("path") ?? pathOf(header);
      const target = said("linkpath") ?? textAt(header, 157, 100);
      const place = { contentBytes: bytes, contentAt: at };
      return { path, type, target, isSparse, ...place, header, extension };
    }
    if (sizeBytes > extendedHeaderLimitBytes) return "other";
    if (piece.length - at < bytes) return "part";
    const listed = listRecords(piece.subarray(at, at + sizeBytes));
    if (listed === null) return "other";
    extension = { header, records: [...records, ...listed] };
    at += bytes;
  }
}

/** @returns headers for the file with content of another size and without holes, also for a hard link to it */
export function rewriteHead({ path, header, extension }: Entry, sizeBytes: number): Buffer {
  const parts: Buffer[] = [];
  if (extension !== null) {
    const kept = extension.records
      .filter(({ key }) => !replacedKeys.has(key) && !key.startsWith("GNU.sparse."))
      .map(({ raw }) => raw);
    const content = Buffer.from([...kept, recordOf("path", path)].join(""), "latin1");
    parts.push(withSize(extension.header, content.length), content, padding(content.length));
  }
  return Buffer.concat([...parts, asFile(header, sizeBytes)]);
}

const replacedKeys = new Set(["size", "path", "linkpath"]);

/** Builds a pax record. The length at its beginning includes its own digits. */
export function recordOf(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length + 1;
  while (`${length}`.length + rest.length !== length) length += 1;
  return `${length}${rest}`;
}

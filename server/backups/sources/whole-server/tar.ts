// Writes the parts of a tar archive of plain files, and reads such an archive file by file.
import { Readable } from "node:stream";
import { recordOf } from "../folder/entries.ts";
import {
  blockBytes,
  contentBytes,
  isSound,
  isZero,
  numberAt,
  padding,
  pathOf,
  paxRecords,
  typeOf,
  withSize,
} from "../folder/tar-header.ts";
import { SourceError } from "../source.ts";
import { toError } from "../../../to-error.ts";

/** Size of the name field of a header. */
const nameBytes = 100;

function block(path: string, type: "0" | "x", sizeBytes: number, at: Date): Buffer {
  const header = Buffer.alloc(blockBytes);
  const seconds = Math.floor(at.getTime() / 1000);
  header.write(path.slice(0, nameBytes), 0, "latin1");
  header.write("0000600\0" + "0000000\0".repeat(2), 100, "latin1");
  header.write(`${seconds.toString(8).padStart(11, "0")}\0`, 136, "latin1");
  header.write(type, 156, "latin1");
  header.write("ustar\x0000", 257, "latin1");
  return withSize(header, sizeBytes);
}

/** Returns the header of a file. @param path in ASCII */
export function headOf(path: string, sizeBytes: number, at: Date): Buffer {
  const own = block(path, "0", sizeBytes, at);
  if (path.length <= nameBytes) return own;
  const record = Buffer.from(recordOf("path", path), "latin1");
  return Buffer.concat([block(path, "x", record.length, at), record, padding(record.length), own]);
}

export const archiveEnd = (): Buffer => Buffer.alloc(2 * blockBytes);

type ArchivedFile = { path: string; sizeBytes: number; content: Readable };

const cutOff = () =>
  new SourceError("The backup isn't a complete archive of a database server: it is cut off.");

/**
 * Yields the files of an archive. What was not read of a file is skipped once the next one is requested. The stream is read to its
 * end, so that an error at the end is noticed.
 * @throws SourceError where it is not such an archive, or the error of `from`
 */
export async function* readFiles(from: Readable): AsyncGenerator<ArchivedFile> {
  const pieces: AsyncIterator<Buffer> = from.iterator({ destroyOnReturn: false });
  let held: Buffer = Buffer.alloc(0);

  /** @returns null at the end */
  async function some(maxBytes: number): Promise<Buffer | null> {
    while (held.length === 0) {
      const { done, value } = await pieces.next();
      if (done === true) return null;
      held = value;
    }
    const taken = held.subarray(0, maxBytes);
    held = held.subarray(taken.length);
    return taken;
  }

  async function whole(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = bytes; left > 0;) {
      const part = await some(left);
      if (part === null) throw cutOff();
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts);
  }

  let longPath: string | undefined;
  for (;;) {
    const header = await whole(blockBytes);
    if (isZero(header)) break;
    const type = typeOf(header);
    const sizeBytes = numberAt(header, 124, 12);
    const isExtension = type === "x" && sizeBytes <= extensionLimitBytes;
    if (!isSound(header) || (type !== "0" && !isExtension))
      throw new SourceError("The backup isn't an archive of a database server.");
    if (isExtension) {
      const content = await whole(contentBytes(type, sizeBytes));
      longPath = paxRecords(content.subarray(0, sizeBytes))?.["path"];
      continue;
    }
    let left = sizeBytes;
    let reading: Promise<unknown> = Promise.resolve();
    const next = async (): Promise<Buffer | null> => {
      if (left === 0) return null;
      const piece = await some(left);
      if (piece === null) throw cutOff();
      left -= piece.length;
      return piece;
    };
    const content = new Readable({
      read() {
        reading = next().then(
          (piece) => this.push(piece),
          (error: unknown) => this.destroy(toError(error)),
        );
      },
    });
    // The reader of the content gets the error, and so does the request for the next file.
    content.on("error", () => undefined);
    yield { path: longPath ?? pathOf(header), sizeBytes, content };
    longPath = undefined;
    content.destroy();
    await reading;
    while ((await next()) !== null);
    await whole(padding(sizeBytes).length);
  }
  while ((await some(Infinity)) !== null);
}

/** Limit of an extended header, which has only a path of some hundred bytes. */
const extensionLimitBytes = 64 * 1024;

// Stores content as what has changed since a full, and puts such changes back: by the `zstd` program, which holds the full in
// memory beside the content.
import { PassThrough, type Readable, type Writable } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import { usualCompressionLevel } from "../../../contract/backups/backup.ts";
import { CommandMissing, heldFile, type LocalHost } from "../../hosts/host.ts";
import { toError } from "../../to-error.ts";
import { sizeInWords } from "../formatting.ts";
import { SourceError } from "../sources/source.ts";
import { writeTo } from "../../write-to.ts";
import { freeBytesIn, NoRoom, openUnnamedFile, type UnnamedFile } from "./unnamed-file.ts";

type Zstd = Pick<LocalHost, "run">;

/** As far as zstd looks back. */
export const maxContentBytes = 2 ** 31 - 1;

/** For what is counted with neither of the two, e.g. zstd's tables. */
const tablesBytes = 160 * 1024 ** 2;

/** Of zstd, measured: the full, the content rounded up to a power of two, and tables that grow with it. */
export const patchMemoryBytes = (baseBytes: number, contentBytes: number): number =>
  baseBytes + Math.ceil(contentBytes * 2.2) + tablesBytes;

/** Beyond what is to be written, so that the disk is not full to its end. */
const spareBytes = 64 * 1024 ** 2;

/** What a folder must have free for unnamed files of so many bytes. */
export const roomFor = (bytes: number): number => bytes + spareBytes;

export async function hasZstd(host: Zstd): Promise<boolean> {
  try {
    return (await host.run({ argv: ["zstd", "--version"] })).exitCode === 0;
  } catch (error) {
    if (error instanceof CommandMissing) return false;
    throw error;
  }
}

type Changed = {
  /** The content of the full. */
  base: UnnamedFile;
  content: UnnamedFile;
  compressionLevel?: number | undefined;
};

/** Writes what has changed into `into` and ends it, or destroys it. @throws SourceError, or the signal's reason */
export async function writePatch(
  host: Zstd,
  { base, content, compressionLevel = usualCompressionLevel }: Changed,
  into: Writable,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { exitCode, stderr } = await host.run({
      // A file of ours is a link there, which zstd reads only when it is forced to.
      argv: [
        "zstd",
        "--quiet",
        `-${compressionLevel}`,
        `--patch-from=${heldFile(0)}`,
        "--force",
        "--stdout",
        heldFile(1),
      ],
      files: [base.fd, content.fd],
      take: (piece) => writeTo(into, piece),
      signal,
    });
    if (exitCode !== 0)
      throw new SourceError(
        `zstd couldn't store the changes: ${lastLine(stderr)} Turn off “Incremental” to store the backup in full.`,
      );
    into.end();
    await finished(into, { readable: false });
  } catch (error) {
    into.destroy(toError(error));
    throw error;
  }
}

type Opening = {
  host: Zstd;
  /** Takes the content of the full for as long as the stream is read. */
  folder: string;
  baseBytes: number;
  /** The content of the full; verified on the way. */
  openBase(signal: AbortSignal): AsyncIterable<Buffer>;
  /** The changes as zstd wrote them; verified on the way. */
  openPatch(signal: AbortSignal): Promise<Readable>;
};

/**
 * The content of a patch. The stream breaks with what either file breaks with, and with SourceError where there is no room, or no zstd.
 * What it holds is given back once it is closed.
 */
export function openPatched(opening: Opening, outside: AbortSignal): Readable {
  const content = new PassThrough();
  // It tells the reader; an error without one would end the service.
  content.on("error", () => undefined);
  const ending = new AbortController();
  content.once("close", () => ending.abort(new Error("Reading was canceled.")));
  const end = () => content.destroy(toError(outside.reason));
  if (outside.aborted) end();
  outside.addEventListener("abort", end, { once: true });
  void unpack(opening, content, AbortSignal.any([outside, ending.signal]))
    .catch((error: unknown) => content.destroy(toError(error)))
    .finally(() => outside.removeEventListener("abort", end));
  return content;
}

async function unpack(
  { host, folder, baseBytes, openBase, openPatch }: Opening,
  into: Writable,
  signal: AbortSignal,
): Promise<void> {
  const free = await freeBytesIn(folder);
  if (free < roomFor(baseBytes)) throw tooSmall(baseBytes, sizeInWords(free));
  const base = await openUnnamedFile(folder);
  try {
    await pipeline(openBase(signal), base.writer(), { signal }).catch((error: unknown) => {
      throw error instanceof NoRoom ? tooSmall(baseBytes, "nothing") : error;
    });
    const input = await openPatch(signal);
    const { exitCode, stderr } = await host
      .run({
        argv: [
          "zstd",
          "--quiet",
          "--decompress",
          "--stdout",
          "--long=31",
          `--patch-from=${heldFile(0)}`,
        ],
        files: [base.fd],
        input,
        // The memory of a piece is used again.
        take: (piece) => writeTo(into, Buffer.from(piece)),
        signal,
      })
      .catch((error: unknown) => {
        input.destroy();
        throw error instanceof CommandMissing ? zstdMissing() : error;
      });
    if (exitCode !== 0)
      throw new SourceError(`zstd couldn't put the changes back: ${lastLine(stderr)}`);
    into.end();
    await finished(into, { readable: false });
  } finally {
    await base.close();
  }
}

const tooSmall = (baseBytes: number, free: string): SourceError =>
  new SourceError(
    `Not enough space in Quarterdeck's data folder: ${free} free, and the full backup takes ${sizeInWords(roomFor(baseBytes))} there while its changes are put back. Free some space, then try again.`,
  );

const zstdMissing = () =>
  new SourceError(
    "Incremental backups are opened by zstd, which isn't installed on Quarterdeck's machine. Install it (apt-get install zstd), then try again.",
  );

const lastLine = (text: string): string => {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("long mode"));
  const line = lines.at(-1) ?? "";
  return line === "" ? "it was ended by a signal, maybe for want of memory." : `${line}.`;
};

// Computes changes since a full and applies them, by the `zstd` program, which holds both the full and the content in memory.
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

/** Longest distance of matches in zstd. */
export const maxContentBytes = 2 ** 31 - 1;

/** Memory that depends on neither size, e.g. for zstd's tables. */
const tablesBytes = 160 * 1024 ** 2;

/** Estimates zstd's memory, from measurements: the full, the content rounded up to a power of two, and tables that grow with it. */
export const patchMemoryBytes = (baseBytes: number, contentBytes: number): number =>
  baseBytes + Math.ceil(contentBytes * 2.2) + tablesBytes;

/** Free space that must remain on the disk. */
const spareBytes = 64 * 1024 ** 2;

/** Returns the free bytes that a folder needs for unnamed files of this size. */
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

/** Writes the changes into `into` and ends it, or destroys it on failure. @throws SourceError, or the signal's reason */
export async function writePatch(
  host: Zstd,
  { base, content, compressionLevel = usualCompressionLevel }: Changed,
  into: Writable,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { exitCode, stderr } = await host.run({
      // Our files are symbolic links for zstd, which it reads only with --force.
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

/** zstd couldn't apply a patch: most likely the file is damaged, which shows only at its end. */
export class PatchRefused extends SourceError {
  override name = "PatchRefused";
}

type Opening = {
  host: Zstd;
  /** Folder for the content of the full while the stream is read. */
  folder: string;
  baseBytes: number;
  /** Opens the content of the full, which is verified while it is read. */
  openBase(signal: AbortSignal): AsyncIterable<Buffer>;
  /** Opens the changes as zstd wrote them, which are verified while they are read. */
  openPatch(signal: AbortSignal): Promise<Readable>;
};

/**
 * Opens the content of a patch. The stream fails with the error of either file, and with SourceError where there is no space or no
 * zstd. Closing it releases its resources.
 */
export function openPatched(opening: Opening, outside: AbortSignal): Readable {
  const content = new PassThrough();
  // The reader gets the error; without a listener it would end the service.
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
        // Copied, because the memory of a piece is reused.
        take: (piece) => writeTo(into, Buffer.from(piece)),
        signal,
      })
      .catch((error: unknown) => {
        input.destroy();
        throw error instanceof CommandMissing ? zstdMissing() : error;
      });
    if (exitCode !== 0)
      throw new PatchRefused(`zstd couldn't put the changes back: ${lastLine(stderr)}`);
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
  return line === ""
    ? "it was ended by a signal, probably because the machine ran out of memory."
    : `${line}.`;
};

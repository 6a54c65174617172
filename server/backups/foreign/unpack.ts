// Opens a foreign file: removes its compression, and recognizes its content.
import type { Duplex, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { streamOf } from "../../storage/stream-of.ts";
import { toError } from "../../to-error.ts";
import type { Host } from "../../hosts/host.ts";
import { SourceError } from "../sources/source.ts";
import { describeUnpackError } from "../pipeline/unpack-error.ts";
import type { ForeignFile } from "./foreign-file.ts";
import { beginningBytes, kindWords, recognize, type Layer } from "./kinds.ts";
import { type ProgramLayer, unpackedByProgram } from "./unpack-by-program.ts";

/** A dump that was compressed twice, e.g. again by its storage, has two layers. */
const maxLayers = 2;
const pieceBytes = 1024 * 1024;

const unpackers: Record<Exclude<Layer, ProgramLayer>, () => Duplex & { bytesWritten: number }> = {
  gzip: () => createGunzip({ chunkSize: pieceBytes }),
  zstd: () => createZstdDecompress({ chunkSize: pieceBytes }),
};

/** Translates the error of a decompressor. */
function tellUnpacking(layer: Layer, error: NodeJS.ErrnoException): Error {
  if (error.code === "ZSTD_error_frameParameter_windowTooLarge")
    return new SourceError(
      "The file is compressed by zstd with a window of more than 128 MB. Unpack it first: zstd -d --long=31 FILE",
      { cause: error },
    );
  const words = describeUnpackError(error);
  return words === null
    ? error
    : new SourceError(
        `The file is ${words}: its ${layer} compression isn't whole. Copy it again.`,
        {
          cause: error,
        },
      );
}

/** Reads the beginning. @returns it, and a stream of the whole content from the first byte */
async function peek(from: Readable): Promise<{ beginning: Buffer; whole: Readable }> {
  const chunks: AsyncIterator<Buffer> = from.iterator({ destroyOnReturn: false });
  const head: Buffer[] = [];
  let bytes = 0;
  while (bytes < beginningBytes) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    // Copied, because the memory of a piece may be reused.
    head.push(Buffer.from(value));
    bytes += value.length;
  }
  async function* all() {
    yield* head;
    for (;;) {
      const { done, value } = await chunks.next();
      if (done === true) return;
      yield value;
    }
  }
  // Closing the content closes the file.
  const whole = streamOf(all(), () => from.destroy(), { isOneByOne: true });
  return { beginning: Buffer.concat(head).subarray(0, beginningBytes), whole };
}

/** Mark at the beginning of UTF-8 text of Windows editors; psql and mysql skip it, too. */
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

function withoutMark(from: Readable): Readable {
  async function* rest() {
    let left = byteOrderMark.length;
    const pieces: AsyncIterable<Buffer> = from;
    for await (const piece of pieces) {
      const skipped = Math.min(left, piece.length);
      left -= skipped;
      if (skipped < piece.length) yield piece.subarray(skipped);
    }
  }
  return streamOf(rest(), () => from.destroy(), { isOneByOne: true });
}

function unpacked(host: Pick<Host, "run">, from: Readable, layer: Layer): Readable {
  if (layer === "xz" || layer === "bzip2") return unpackedByProgram(host, layer, from);
  const to = unpackers[layer]();
  // The reader gets errors through `to`.
  let bytes = 0;
  async function* counted(pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) {
      bytes += piece.length;
      yield piece;
    }
  }
  pipeline(from, counted, to).catch(() => undefined);
  async function* told() {
    try {
      const pieces: AsyncIterable<Buffer> = to;
      yield* pieces;
      // Data after the last frame may be a frame with a damaged beginning, which zstd's library ignores.
      if (layer === "zstd" && to.bytesWritten < bytes)
        throw new SourceError(
          `The file is damaged: its zstd compression ends after ${to.bytesWritten} of ${bytes} bytes, and what follows is none. Copy it again.`,
        );
    } catch (error) {
      throw tellUnpacking(layer, toError(error));
    }
  }
  const end = () => {
    to.destroy();
    // The generator between the two may wait for a piece of it.
    from.destroy();
  };
  return streamOf(told(), end, { isOneByOne: true });
}

/**
 * @param host the service's machine
 * @throws SourceError for a file that cannot be imported, or the error of `from`
 */
export async function openForeign(host: Pick<Host, "run">, from: Readable): Promise<ForeignFile> {
  const layers: Layer[] = [];
  let content = from;
  try {
    for (;;) {
      const { beginning, whole } = await peek(content);
      content = whole;
      const isMarked = beginning.subarray(0, byteOrderMark.length).equals(byteOrderMark);
      const seen = recognize(beginning);
      const isText = seen.is === "content" && seen.kind.endsWith("sql");
      if (isMarked && isText) content = withoutMark(whole);
      const found = isMarked && isText ? recognize(beginning.subarray(byteOrderMark.length)) : seen;
      if (found.is === "refused") {
        const packed = layers.length === 0 ? "" : `, compressed by ${layers.join(" and ")}`;
        throw new SourceError(`The file is ${found.words}${packed}. ${found.cure}`);
      }
      if (found.is === "content") {
        const packed = layers.length === 0 ? "" : `, compressed by ${layers.join(" and ")}`;
        return { kind: found.kind, words: `${kindWords[found.kind]}${packed}`, content };
      }
      if (layers.length === maxLayers)
        throw new SourceError(
          `The file is compressed more than ${maxLayers} times. Unpack it first.`,
        );
      layers.push(found.layer);
      content = unpacked(host, content, found.layer);
    }
  } catch (error) {
    content.destroy();
    from.destroy();
    throw error;
  }
}

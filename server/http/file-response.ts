// A response with a file or its last part, streamed without buffering or caching.
import { pipeline, Readable, Transform } from "node:stream";
import type { Context } from "hono";
import { firstByte, isKnown, isMatch } from "./range.ts";

type File = {
  /** Of the whole file. It fails before its end if the file is damaged. */
  content: Readable;
  /** File name for the browser; plain ASCII. */
  name: string;
  sizeBytes: number;
  /** Hex checksum of the content, by which a client recognizes the file; null = unknown. */
  checksum: string | null;
};

export class FileResponse {
  readonly #file: File;

  constructor(file: File) {
    this.#file = file;
  }

  toResponse(c: Context): Response {
    const { content, name, sizeBytes, checksum } = this.#file;
    const tag = checksum === null ? null : `"${checksum}"`;
    const headers = {
      "Content-Type": "application/octet-stream",
      "Content-Length": String(sizeBytes),
      "Content-Disposition": `attachment; filename="${name}"`,
      "Cache-Control": "no-store",
      "Accept-Ranges": "bytes",
      ...(tag !== null && { ETag: tag }),
      // A browser that renders the file instead of saving it runs no script, and sends the link to no other site as the referrer.
      "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
      "Referrer-Policy": "no-referrer",
    };
    if (!isMatch(c.req.header("If-Match"), tag)) {
      content.destroy();
      return c.json({ message: "The file is not the one that If-Match names." }, 412);
    }
    if (isKnown(c.req.header("If-None-Match"), tag)) {
      content.destroy();
      const { "Cache-Control": caching, ETag } = headers;
      return c.body(null, 304, { "Cache-Control": caching, ...(ETag !== undefined && { ETag }) });
    }
    if (c.req.method === "HEAD") {
      // The response to HEAD does not read the file, so it must be closed here.
      content.destroy();
      return c.body(null, 200, headers);
    }
    const asked = { range: c.req.header("Range"), ifRange: c.req.header("If-Range") };
    const from = firstByte(asked, { sizeBytes, tag });
    if (from === null) return c.body(toWeb(content), 200, headers);
    if (from >= sizeBytes) {
      content.destroy();
      const message = `The file has ${sizeBytes} bytes, and the range begins after them.`;
      return c.json({ message }, 416, { "Content-Range": `bytes */${sizeBytes}` });
    }
    return c.body(toWeb(after(content, from)), 206, {
      ...headers,
      "Content-Length": String(sizeBytes - from),
      "Content-Range": `bytes ${from}-${sizeBytes - 1}/${sizeBytes}`,
    });
  }
}

/** Returns the content without its first bytes. They are read all the same, because the content is verified on the way. */
function after(content: Readable, bytes: number): Readable {
  let left = bytes;
  const rest = new Transform({
    transform(piece: Buffer, _, done) {
      const skipped = Math.min(left, piece.length);
      left -= skipped;
      done(null, skipped < piece.length ? piece.subarray(skipped) : undefined);
    },
  });
  // An error of one end closes the other, and the reader of the rest gets it.
  pipeline(content, rest, () => undefined);
  return rest;
}

// The types of Node's web streams and of the browser's differ in generics only.
const toWeb = (content: Readable) => Readable.toWeb(content) as ReadableStream;

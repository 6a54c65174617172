// A response with a file, streamed without buffering or caching.
import { Readable } from "node:stream";
import type { Context } from "hono";

export class FileResponse {
  readonly #content: Readable;
  readonly #name: string;
  readonly #sizeBytes: number;

  /** @param name file name for the browser; plain ASCII */
  constructor(content: Readable, name: string, sizeBytes: number) {
    this.#content = content;
    this.#name = name;
    this.#sizeBytes = sizeBytes;
  }

  toResponse(c: Context): Response {
    const headers = {
      "Content-Type": "application/octet-stream",
      "Content-Length": String(this.#sizeBytes),
      "Content-Disposition": `attachment; filename="${this.#name}"`,
      "Cache-Control": "no-store",
      // A browser that renders the file instead of saving it runs no script, and sends the link to no other site as the referrer.
      "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
      "Referrer-Policy": "no-referrer",
    };
    if (c.req.method === "HEAD") {
      // The response to HEAD does not read the file, so it must be closed here.
      this.#content.destroy();
      return c.body(null, 200, headers);
    }
    // The types of Node's web streams and of the browser's differ in generics only.
    return c.body(Readable.toWeb(this.#content) as ReadableStream, 200, headers);
  }
}

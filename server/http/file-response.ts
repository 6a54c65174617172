// A response with a file, streamed without buffering or caching.
import { Readable } from "node:stream";
import type { Context } from "hono";

export class FileResponse {
  readonly #content: Readable;
  readonly #name: string;
  readonly #sizeBytes: number;

  /** @param name what a browser saves it as; plain ASCII */
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
      // Whatever a browser may take it for, it runs nothing, and tells nobody the link that led here.
      "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
      "Referrer-Policy": "no-referrer",
    };
    if (c.req.method === "HEAD") {
      // Nobody reads it, so nobody else would close it.
      this.#content.destroy();
      return c.body(null, 200, headers);
    }
    // The types of Node's web streams and of the browser's differ in generics only.
    return c.body(Readable.toWeb(this.#content) as ReadableStream, 200, headers);
  }
}

// Streams a file of any length from the body of a request.
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { Context } from "hono";
import type { ApiEnvironment } from "./every-request.ts";
import type { Upload } from "./route.ts";
import { allowLongSending } from "./sending-limit.ts";

export const isFile = (request: Request): boolean =>
  /^application\/octet-stream\s*(?:;|$)/i.test(request.headers.get("content-type") ?? "");

/** Opens the file in the body of a request, and lifts the time limit of the request; the request must be authorized already. */
export function openUpload<Fields>(c: Context<ApiEnvironment>, fields: Fields): Upload<Fields> {
  const { raw } = c.req;
  allowLongSending(c.env?.incoming);
  const length = Number(raw.headers.get("content-length") ?? Number.NaN);
  const content =
    raw.body === null
      ? Readable.from([])
      : // The types of Node's web streams and of the browser's differ in generics only.
        Readable.fromWeb(raw.body as ReadableStream);
  // If a client disconnects before anything reads the stream, an unhandled `error` event would crash the service.
  content.on("error", () => undefined);
  return {
    fields,
    content,
    sizeBytes: Number.isSafeInteger(length) ? length : null,
  };
}

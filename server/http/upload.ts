// Streams a file of any length from the body of a request.
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { Context } from "hono";
import type { ApiEnvironment } from "./every-request.ts";
import type { Upload } from "./route.ts";
import { allowLongSending } from "./sending-limit.ts";

export const isFile = (request: Request): boolean =>
  /^application\/octet-stream\s*(?:;|$)/i.test(request.headers.get("content-type") ?? "");

/** To be called once the request may send it: from then on it may take any time. */
export function openUpload<Fields>(c: Context<ApiEnvironment>, fields: Fields): Upload<Fields> {
  const { raw } = c.req;
  allowLongSending(c.env?.incoming);
  const length = Number(raw.headers.get("content-length") ?? Number.NaN);
  const content =
    raw.body === null
      ? Readable.from([])
      : // The types of Node's web streams and of the browser's differ in generics only.
        Readable.fromWeb(raw.body as ReadableStream);
  // A client may break off before somebody reads; without this that would end the service.
  content.on("error", () => undefined);
  return {
    fields,
    content,
    sizeBytes: Number.isSafeInteger(length) ? length : null,
  };
}

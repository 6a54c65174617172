// Reading a request's body: bounded, JSON, an object.
import { ServiceError } from "./service-error.ts";

/** A body may have this many bytes. */
const maxBodyBytes = 1024 * 1024;

const tooLarge = () =>
  new ServiceError("body_too_large", "The request body must not be larger than 1 MiB.");

/**
 * Reads a JSON object. No body at all counts as an empty one, so that its missing fields are named.
 * @throws ServiceError `body_too_large`, `not_json` or `malformed_body`
 */
export async function readJsonObject(request: Request): Promise<Record<string, unknown>> {
  const text = await readText(request);
  if (text === "") return {};
  if (!isJsonType(request.headers.get("content-type")))
    throw new ServiceError(
      "not_json",
      "The request body must be JSON: send it with Content-Type: application/json.",
    );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ServiceError("malformed_body", "The request body is not valid JSON.");
  }
  if (!isObject(value))
    throw new ServiceError("malformed_body", "The request body must be a JSON object.");
  return value;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isJsonType = (type: string | null) =>
  /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type ?? "");

/** Stops reading at the limit: what `Content-Length` says may be missing or wrong. */
async function readText(request: Request): Promise<string> {
  if (Number(request.headers.get("content-length")) > maxBodyBytes) throw tooLarge();
  if (request.body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  let sizeBytes = 0;
  for await (const chunk of request.body) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBodyBytes) throw tooLarge();
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

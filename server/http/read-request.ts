// Reads the JSON body of a request, limited in size, and reports all errors of its fields at once: those of the schema, and those that
// only the disk or the database can show.
import { errorMessage, type FieldErrors, toFieldErrors } from "../../contract/errors.ts";
import type { Operation } from "../../contract/operation.ts";
import "../../contract/validation-messages.ts";
import { InvalidFields, ServiceError } from "./service-error.ts";

type Schema = NonNullable<Operation["body"]>;
type Fields = Record<string, unknown>;

/** Limit of a body. */
const maxBodyBytes = 1024 * 1024;

const tooLarge = () =>
  new ServiceError("body_too_large", "The request body must not be larger than 1 MiB.");

/**
 * Reads a JSON object. A missing body reads as an empty object, so that the response names the required fields.
 * @throws ServiceError `body_too_large`, `not_json` or `malformed_body`
 */
export async function readJsonObject(request: Request): Promise<Fields> {
  const bytes = await readBytes(request);
  if (bytes.length === 0) return {};
  const coding = request.headers.get("content-encoding") ?? "identity";
  if (coding.toLowerCase() !== "identity")
    throw new ServiceError(
      "not_json",
      "The request body must not be compressed: send it without Content-Encoding.",
    );
  if (!isJsonType(request.headers.get("content-type")))
    throw new ServiceError(
      "not_json",
      "The request body must be JSON: send it with Content-Type: application/json.",
    );
  let value: unknown;
  try {
    value = JSON.parse(toText(bytes));
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError("malformed_body", "The request body is not valid JSON.");
  }
  if (!isObject(value))
    throw new ServiceError("malformed_body", "The request body must be a JSON object.");
  return value;
}

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isJsonType = (type: string | null) =>
  /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type ?? "");

/** Refuses text that is not UTF-8, which would be stored as characters that nobody sent. */
function toText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ServiceError("malformed_body", "The request body is not valid UTF-8.");
  }
}

/** Stops reading at the limit, because `Content-Length` may be missing or wrong. */
async function readBytes(request: Request): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length")) > maxBodyBytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  if (request.body !== null) {
    let sizeBytes = 0;
    for await (const chunk of orBrokenOff(request.body)) {
      sizeBytes += chunk.byteLength;
      if (sizeBytes > maxBodyBytes) throw tooLarge();
      chunks.push(chunk);
    }
  }
  return Buffer.concat(chunks);
}

/** Marks the error of a client that disconnected, whose code is the same as that of a lost database connection. */
async function* orBrokenOff(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch {
    throw new ServiceError("malformed_request", errorMessage.malformed_request);
  }
}

/** @returns the fields that are valid on their own, whatever is wrong with others */
function fittingFields(schema: Schema, value: unknown): Fields {
  if (!("shape" in schema) || !isObject(schema.shape) || !isObject(value)) return {};
  const fields: Fields = {};
  for (const [name, field] of Object.entries(schema.shape)) {
    if (!Object.hasOwn(value, name)) continue;
    // The values of a zod object's shape are schemas.
    const parsed = (field as Schema).safeParse(value[name]);
    if (parsed.success) fields[name] = parsed.data;
  }
  return fields;
}

/**
 * Parses the body of a request.
 * @param check further errors by field; it gets the fields that pass the schema, even where others do not
 * @throws InvalidFields with everything that is wrong
 */
export async function readFields(
  schema: Schema,
  value: unknown,
  check: (fields: Fields) => Promise<FieldErrors> = async () => ({}),
): Promise<unknown> {
  const parsed = schema.safeParse(value);
  const found = await check(isObject(parsed.data) ? parsed.data : fittingFields(schema, value));
  const errors = { ...(parsed.error && toFieldErrors(parsed.error.issues)), ...found };
  if (!parsed.success || Object.keys(errors).length > 0) throw new InvalidFields(errors);
  return parsed.data;
}

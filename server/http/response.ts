// Serializes a handler's response: checks it against the operation's schema, and computes its tag.
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Logger } from "pino";
import * as z from "zod";
import type { Operation } from "../../contract/operation.ts";

type Written = {
  text: string;
  tag: string;
  /** @returns the text, compressed by gzip */
  pack: () => Promise<Uint8Array<ArrayBuffer>>;
};

export type WriteResponse = (operation: Operation, status: number, body: unknown) => Written;

/** Maximum number of cached responses. Most polls return the same data as the one before, which need not be checked again. */
const maxKept = 200;
/** Maximum characters of all cached responses; the overview of a thousand servers has half a million. */
const maxKeptLength = 8_000_000;

/** Compression level. It makes 42 kB of 500 kB in half the time in which the default makes 36 kB. */
const level = 3;

const compress = promisify(gzip);

function toWritten(text: string, tag: string): Written {
  let packed: ReturnType<Written["pack"]> | undefined;
  return { text, tag, pack: () => (packed ??= compress(text, { level })) };
}

/** The names of all fields of a JSON schema, on any level. */
function fieldsOf(part: unknown): string[] {
  if (typeof part !== "object" || part === null) return [];
  const own = "properties" in part ? Object.keys(part.properties ?? {}) : [];
  return [...own, ...Object.values(part).flatMap(fieldsOf)];
}

/**
 * @param invalidResponse whether a response that breaks its schema throws (`fail`), or is logged and sent with the fields
 *   that the schema names (`log`), because one odd value must not hide a whole page from an operator
 */
export function createResponseWriter(invalidResponse: "fail" | "log", log: Logger): WriteResponse {
  const kept = new Map<string, Written>();
  let keptLength = 0;

  function keep(tag: string, written: Written): void {
    if (kept.size >= maxKept || keptLength + written.text.length > maxKeptLength) {
      kept.clear();
      keptLength = 0;
    }
    kept.set(tag, written);
    keptLength += written.text.length;
  }

  function check(operation: Operation, status: number, body: unknown): string {
    const schema = operation.responses[status] ?? null;
    const checked = schema?.safeParse(body);
    // Parsing removes fields that the schema does not name, so that no response can reveal them.
    if (checked?.success === true) return JSON.stringify(checked.data);
    const problem = { operation: operation.path, status, issues: checked?.error.issues };
    if (invalidResponse === "fail")
      throw new Error(`A response breaks its own schema: ${JSON.stringify(problem)}`);
    log.error(problem, "a response breaks its own schema");
    const names =
      schema === null ? [] : fieldsOf(z.toJSONSchema(schema, { unrepresentable: "any" }));
    return JSON.stringify(body, names);
  }

  return (operation, status, body) => {
    const tag = createHash("sha1")
      .update(`${operation.method} ${operation.path} ${status} ${JSON.stringify(body)}`)
      .digest("base64url");
    const known = kept.get(tag);
    if (known !== undefined) return known;
    const written = toWritten(check(operation, status, body), tag);
    // Only responses to GET are kept: the response to a change may hold a secret that is shown once.
    if (operation.method === "GET") keep(tag, written);
    return written;
  };
}

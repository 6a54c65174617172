// Writes a handler's response as the text that is sent: checked against its own schema, and tagged.
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Logger } from "pino";
import type { Operation } from "../../contract/operation.ts";

type Written = {
  text: string;
  tag: string;
  /** The text as it is sent to who takes gzip. */
  pack: () => Promise<Uint8Array<ArrayBuffer>>;
};

export type WriteResponse = (operation: Operation, status: number, body: unknown) => Written;

/** Dashboards poll, and most polls find what the one before found: that is neither checked nor compressed once more. */
const maxKept = 200;
/** Characters of them all: the overview of a thousand servers has half a million. */
const maxKeptLength = 8_000_000;

/** Of 500 kB it makes 42 in half the time in which the usual level makes 36. */
const level = 3;

const compress = promisify(gzip);

function toWritten(text: string, tag: string): Written {
  let packed: ReturnType<Written["pack"]> | undefined;
  return { text, tag, pack: () => (packed ??= compress(text, { level })) };
}

/**
 * @param invalidResponse what becomes of a response that breaks its schema: `fail` throws; `log` sends it all the
 * same, because a client is not to suffer for our mistake
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
    const checked = operation.responses[status]?.safeParse(body);
    // What the schema does not name is left out here, so nothing gets out that nobody meant to show.
    if (checked?.success === true) return JSON.stringify(checked.data);
    const problem = { operation: operation.path, status, issues: checked?.error.issues };
    if (invalidResponse === "fail")
      throw new Error(`A response breaks its own schema: ${JSON.stringify(problem)}`);
    log.error(problem, "a response breaks its own schema");
    return JSON.stringify(body);
  }

  return (operation, status, body) => {
    const tag = createHash("sha1")
      .update(`${operation.method} ${operation.path} ${status} ${JSON.stringify(body)}`)
      .digest("base64url");
    const known = kept.get(tag);
    if (known !== undefined) return known;
    const written = toWritten(check(operation, status, body), tag);
    // Only what is polled: the response to a change may hold a secret that is shown once.
    if (operation.method === "GET") keep(tag, written);
    return written;
  };
}

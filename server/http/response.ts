// Writes a handler's response as the text that is sent: checked against its own schema, and tagged.
import { createHash } from "node:crypto";
import type { Logger } from "pino";
import type { Operation } from "../../contract/operation.ts";

export type WriteResponse = (
  operation: Operation,
  status: number,
  body: unknown,
) => { text: string; tag: string };

/** Dashboards poll, and most polls find what the one before found: that is not checked once more. */
const maxKept = 200;

/**
 * @param invalidResponse what becomes of a response that breaks its schema: `fail` throws; `log` sends it all the
 * same, because a client is not to suffer for our mistake
 */
export function createResponseWriter(invalidResponse: "fail" | "log", log: Logger): WriteResponse {
  const written = new Map<string, string>();

  function check(operation: Operation, status: number, body: unknown): string {
    const checked = operation.responses[status]?.safeParse(body);
    // What the schema does not name is left out here, so nothing gets out that nobody meant to show.
    if (checked?.success === true) return JSON.stringify(checked.data);
    const problem = { operation: operation.path, status, issues: checked?.error.issues };
    if (invalidResponse === "fail")
      throw new Error(`An answer breaks its own schema: ${JSON.stringify(problem)}`);
    log.error(problem, "an answer breaks its own schema");
    return JSON.stringify(body);
  }

  return (operation, status, body) => {
    const tag = createHash("sha1")
      .update(`${operation.method} ${operation.path} ${status} ${JSON.stringify(body)}`)
      .digest("base64url");
    const known = written.get(tag);
    if (known !== undefined) return { text: known, tag };
    const text = check(operation, status, body);
    // Only what is polled: the response to a change may hold a secret that is shown once.
    if (operation.method !== "GET") return { text, tag };
    if (written.size >= maxKept) written.clear();
    written.set(tag, text);
    return { text, tag };
  };
}

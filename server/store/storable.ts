// Makes every value storable on its way into the database: a tool's output, a worker's log or a receiver's response may contain
// any characters, and no outcome may be lost because of them.
import type pg from "pg";
import { ImpatientClient, type ImpatientOptions } from "./impatient-client.ts";

const replacement = "\u{fffd}";

/** Replaces what PostgreSQL cannot store in a text: U+0000, and lone surrogates, which have no form in UTF-8. */
export const toStorableText = (text: string): string =>
  text.toWellFormed().replaceAll("\0", replacement);

/**
 * Returns the JSON of a value with all its texts storable. `jsonb` rejects both kinds of characters even as escapes, which is how
 * `JSON.stringify` writes them. An escaped backslash before the same letters stays as it is.
 */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value).replace(/\\(?:(u0000|ud[89a-f][0-9a-f]{2})|.)/g, (escape, bad?: string) =>
    bad === undefined ? escape : replacement,
  );

function toStorable(value: unknown): unknown {
  if (typeof value === "string") return toStorableText(value);
  return Array.isArray(value) ? value.map(toStorable) : value;
}

/** Converts one argument of `query`: a statement, its values, or a callback. */
function toStorablePart(part: unknown): unknown {
  // Only a statement in object form has a list with that name.
  return typeof part === "object" && part !== null && "values" in part && Array.isArray(part.values)
    ? { ...part, values: toStorable(part.values) }
    : toStorable(part);
}

export type ConnectionOptions = pg.PoolConfig &
  ImpatientOptions & {
    /** False behind a transaction pooler, where the next statement may run in a session that has not prepared it. */
    hasNamedStatements?: boolean;
  };

const withoutName = (part: unknown): unknown =>
  typeof part === "object" && part !== null && "name" in part ? { ...part, name: undefined } : part;

/**
 * PostgreSQL ends a transaction after this time without a statement. A client that was suspended, or lost its machine, in a
 * transaction would otherwise keep its locks. Shorter than a lease, so that a takeover does not wait for a lock. Set in each
 * transaction, because a pooler does not keep session settings.
 */
const idleLimitMs = 10_000;

const limited = (part: unknown): unknown =>
  typeof part === "object" &&
  part !== null &&
  "text" in part &&
  typeof part.text === "string" &&
  /^begin\b/.test(part.text)
    ? {
        ...part,
        text: `${part.text}; set local idle_in_transaction_session_timeout = ${idleLimitMs}`,
      }
    : part;

/**
 * A client whose queries only send storable values. All queries pass through it, so code that stores text needs no precautions.
 * Values that are JSON already come from `storableJson`.
 */
export class StorableClient extends ImpatientClient {
  constructor(config: ConnectionOptions = {}) {
    super(config);
    const { hasNamedStatements = true } = config;
    // Called with the arguments of the wrapper, whichever overload that is.
    const query = this.query.bind(this) as (...parts: unknown[]) => unknown;
    // The wrapper has the original's signature, whose overloads are too many to repeat.
    this.query = ((...parts: unknown[]) =>
      query(
        ...parts
          .map(toStorablePart)
          .map(limited)
          .map((part) => (hasNamedStatements ? part : withoutName(part))),
      )) as typeof this.query;
  }
}

// Makes every value storable on its way into the database: a tool's output, a worker's log, a receiver's answer hold
// whatever their authors like, and no outcome may be lost because of it.
import type pg from "pg";
import { ImpatientClient, type ImpatientOptions } from "./impatient-client.ts";

const replacement = "\u{fffd}";

/** PostgreSQL keeps no U+0000 in a text, and a lone half of a surrogate pair has no form in UTF-8. */
export const toStorableText = (text: string): string =>
  text.toWellFormed().replaceAll("\0", replacement);

/**
 * The JSON of a value, with every text in it storable. `jsonb` takes neither character, not even as an escape, which
 * is how `JSON.stringify` writes both; an escaped backslash before the same letters is left alone.
 */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value).replace(/\\(?:(u0000|ud[89a-f][0-9a-f]{2})|.)/g, (escape, bad?: string) =>
    bad === undefined ? escape : replacement,
  );

function toStorable(value: unknown): unknown {
  if (typeof value === "string") return toStorableText(value);
  return Array.isArray(value) ? value.map(toStorable) : value;
}

/** What `query` is called with: a statement, its values beside it or in it, and maybe a callback. */
function toStorablePart(part: unknown): unknown {
  // Only a statement as an object has a list of that name.
  return typeof part === "object" && part !== null && "values" in part && Array.isArray(part.values)
    ? { ...part, values: toStorable(part.values) }
    : toStorable(part);
}

export type ConnectionOptions = pg.PoolConfig &
  ImpatientOptions & {
    /** False behind a pooler of transactions, where the next statement may meet a session that nobody prepared it in. */
    hasNamedStatements?: boolean;
  };

const withoutName = (part: unknown): unknown =>
  typeof part === "object" && part !== null && "name" in part ? { ...part, name: undefined } : part;

/**
 * A transaction whose client asks nothing for so long is over: whoever was stopped, or lost its machine, in the middle of one would
 * keep others from what it locked. It is less than a lease, so that a takeover waits for no lock. Set with each transaction,
 * because a pooler hands on no settings of a session.
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
 * A connection whose queries carry storable values only. This is the one place that all of them pass, however a query
 * was written, so nobody who stores a text has to think of it. A value that is JSON already comes from `storableJson`.
 */
export class StorableClient extends ImpatientClient {
  constructor(config: ConnectionOptions = {}) {
    super(config);
    const { hasNamedStatements = true } = config;
    // Called with what the wrapper got, whichever overload that is.
    const query = this.query.bind(this) as (...parts: unknown[]) => unknown;
    // It takes and gives what the original does; that one's overloads are too many to be repeated.
    this.query = ((...parts: unknown[]) =>
      query(
        ...parts
          .map(toStorablePart)
          .map(limited)
          .map((part) => (hasNamedStatements ? part : withoutName(part))),
      )) as typeof this.query;
  }
}

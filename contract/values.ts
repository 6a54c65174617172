// The small values that the resources are made of: ids, moments, texts with bounds.
// Everything here is zod/mini, because both ends load it and the full zod is three times the size.
import * as z from "zod/mini";

// A browser page whose policy forbids `eval` would report zod's attempt to use it; a service may compile.
z.config({ jitless: "document" in globalThis });

/** The largest value of an `integer` column; every count and every number of seconds stays below it. */
export const maxInteger = 2_147_483_647;

/** An integer from `min` to `max`, both included. */
export const integer = (min: number, max: number = maxInteger) =>
  z.int().check(z.gte(min), z.lte(max));

/** A positive integer that names a resource, of whichever service: as large as JSON can tell apart. */
export const id = z.int().check(z.gte(1));

/** One of Quarterdeck's own, as its requests and its inventory take it: what its database has columns for. */
export const ownId = integer(1);

/** ISO 8601 in UTC with six fractional digits, e.g. `2026-01-31T09:30:00.000000Z`. */
export const timestamp = z.string().check(
  z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/, {
    error: "A timestamp is ISO 8601 in UTC with six fractional digits.",
  }),
);

/** PostgreSQL keeps no U+0000 in a text, and a lone half of a surrogate pair has no form in UTF-8. */
export const isStorableText = (text: string): boolean =>
  text.isWellFormed() && !text.includes("\0");

/** What every text of a request is made from: it refuses what the database could not keep. */
export const storableText = () =>
  z.string().check(z.refine(isStorableText, { params: { isUnstorable: true }, abort: true }));

/** A moment as a request may say it: ISO 8601 in UTC, to the minute or finer. */
export const moment = z
  .string()
  .check(
    z.refine(
      (text) =>
        /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?Z$/.test(text) &&
        !Number.isNaN(Date.parse(text)),
      { error: "This must be a moment in UTC, such as 2026-01-31T09:30:00Z." },
    ),
  );

/**
 * A number that a request may leave out. Quarterdeck always answers the value that it took instead; the interface leaves that
 * open, so another service may answer null.
 */
export const orUnsaid = <Schema extends z.ZodMiniType>(schema: Schema) => z.nullable(schema);

/**
 * A state word. A service may know words that this contract does not, and a client has to live with
 * them, so the schema takes any text; the type still offers the known ones.
 */
export const stateOf = <const States extends readonly string[]>(states: States) =>
  // The cast narrows the type for reading only: any text passes, as said above.
  z.string().register(z.globalRegistry, { examples: [...states] }) as unknown as z.ZodMiniType<
    States[number] | (string & {}),
    string
  >;

/** Formats a date as the interface's timestamp; milliseconds are as fine as the clock gets. */
export const toTimestamp = (date: Date): string => date.toISOString().replace("Z", "000Z");

export const toTimestampOrNull = (date: Date | null): string | null => date && toTimestamp(date);

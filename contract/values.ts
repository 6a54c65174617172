// The basic values of the resources: ids, timestamps, states. All in zod/mini, because both ends load it and the full
// zod is three times as large.
import * as z from "zod/mini";

// In a browser, zod's attempt to compile would violate a policy without `eval`; a service may compile.
z.config({ jitless: "document" in globalThis });

/** A positive integer that identifies a resource; the maximum is the largest safe integer. */
export const id = z.int().check(z.gte(1));

/** ISO 8601 in UTC with six fractional digits, e.g. `2026-01-31T09:30:00.000000Z`. */
const timestampPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
export const timestamp = z.string().check(z.regex(timestampPattern));

/**
 * A number that a request may leave out. Quarterdeck always responds with the value in effect; the interface does not
 * define that, so another service may respond with null.
 */
export const orUnsaid = <Schema extends z.ZodMiniType>(schema: Schema) => z.nullable(schema);

/**
 * A state word. A service may use words that this contract lacks, and clients must tolerate them, so the schema accepts
 * any text; the type still lists the known words.
 */
export const stateOf = <const States extends readonly string[]>(states: States) =>
  // The cast only narrows the type for reading: any text passes, as described above.
  z.string().register(z.globalRegistry, { examples: [...states] }) as unknown as z.ZodMiniType<
    States[number] | (string & {}),
    string
  >;

/** Formats a date as the interface's timestamp, with the precision of milliseconds. */
export const toTimestamp = (date: Date): string => date.toISOString().replace("Z", "000Z");

export const toTimestampOrNull = (date: Date | null): string | null => date && toTimestamp(date);

/** A human-readable moment, e.g. `2026-11-24 02:30 UTC`. */
export const utcText = (at: Date): string =>
  `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;

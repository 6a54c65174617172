// The small values that the resources are made of: ids, moments, states.
// Everything here is zod/mini, because both ends load it and the full zod is three times the size.
import * as z from "zod/mini";

// A browser page whose policy forbids `eval` would report zod's attempt to use it; a service may compile.
z.config({ jitless: "document" in globalThis });

/** A positive integer that names a resource, of whichever service: as large as JSON can tell apart. */
export const id = z.int().check(z.gte(1));

/** ISO 8601 in UTC with six fractional digits, e.g. `2026-01-31T09:30:00.000000Z`. */
const timestampPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
export const timestamp = z.string().check(z.regex(timestampPattern));

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

/** A moment for people, e.g. `2026-11-24 02:30 UTC`. */
export const utcText = (at: Date): string =>
  `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;

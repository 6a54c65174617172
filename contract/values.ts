// Schemas of the values in responses: ids, times, states. They use zod/mini, because both ends load them and the full zod is
// three times the size.
import * as z from "zod/mini";

// zod would try `eval`, which the page's policy forbids and the browser reports; the service may use it.
z.config({ jitless: "document" in globalThis });

/** The id of a resource of any service: a positive integer, as large as JSON can hold exactly. */
export const id = z.int().check(z.gte(1));

/** ISO 8601 in UTC with six fractional digits, e.g. `2026-01-31T09:30:00.000000Z`. */
const timestampPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
export const timestamp = z.string().check(z.regex(timestampPattern));

/**
 * A number that requests may leave out. Quarterdeck responds with the value that it used instead; another service may respond
 * with null.
 */
export const orUnsaid = <Schema extends z.ZodMiniType>(schema: Schema) => z.nullable(schema);

/**
 * A state. The schema takes any text, because a service may have states that this contract does not know; the type offers the
 * known ones.
 */
export const stateOf = <const States extends readonly string[]>(states: States) =>
  // The cast narrows the type for reading only: any text passes, as said above.
  z.string().register(z.globalRegistry, { examples: [...states] }) as unknown as z.ZodMiniType<
    States[number] | (string & {}),
    string
  >;

/** Formats a date as the interface's timestamp. */
export const toTimestamp = (date: Date): string => date.toISOString().replace("Z", "000Z");

export const toTimestampOrNull = (date: Date | null): string | null => date && toTimestamp(date);

/** Formats a time for messages, e.g. `2026-11-24 02:30 UTC`. */
export const utcText = (at: Date): string =>
  `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;

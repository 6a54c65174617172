// Schemas of the values in requests, with their limits.
import * as z from "zod/mini";
import { toTimestamp } from "./values.ts";

/** The largest value of an `integer` column; the limit of every count and number of seconds. */
export const maxInteger = 2_147_483_647;

/** An integer from `min` to `max`, both included. */
export const integer = (min: number, max: number = maxInteger) =>
  z.int().check(z.gte(min), z.lte(max));

/** An id that Quarterdeck stores. Ids of other services may be larger. */
export const ownId = integer(1);

/** Whether PostgreSQL can store a text: it has no U+0000, and no lone surrogate, which UTF-8 cannot encode. */
export const isStorableText = (text: string): boolean =>
  text.isWellFormed() && !text.includes("\0");

/** The base of every text in requests: refuses text that the database cannot store. */
export const storableText = () =>
  z.string().check(z.refine(isStorableText, { params: { isUnstorable: true }, abort: true }));

const toMilliseconds = "2026-01-31T09:30:00.000".length;

/** Whether a text in the format of `moment` is a date that exists: not 2026-02-30, and not in year 0, which PostgreSQL refuses. */
function isMoment(text: string): boolean {
  const date = new Date(text);
  return (
    !Number.isNaN(date.getTime()) &&
    date.getUTCFullYear() > 0 &&
    toTimestamp(date).startsWith(text.replace("Z", "").slice(0, toMilliseconds))
  );
}

const momentError = { error: "This must be a time in UTC, such as 2026-01-31T09:30:00Z." };

/** A time in a request: ISO 8601 in UTC, to the minute or finer. */
export const moment = z
  .string()
  .check(
    z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?Z$/, { ...momentError, abort: true }),
    z.refine(isMoment, momentError),
  );

// oxlint-disable-next-line no-control-regex -- control characters are exactly what this refuses
const printable = /^[^\u0000-\u001f\u007f]*$/;
const noControls = "Control characters and line breaks are not allowed here.";

/** One line of text: 1 to `max` characters, not all blank, no control characters. */
export const line = (max: number) =>
  storableText().check(
    z.trim(),
    z.minLength(1),
    z.maxLength(max),
    z.regex(printable, { error: noControls }),
  );

/**
 * Invisible characters that are pasted along with a name: zero-width spaces, soft hyphens, directional marks. Zero-width joiners
 * are kept, because emoji and some scripts need them.
 */
const unseen = /[\u00ad\u200b\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** A name that a user gives: as `line`, without invisible characters, and not of those alone that some scripts need. */
export const givenName = (max: number) =>
  storableText().check(
    z.overwrite((text) => (/[^\s\p{Cf}]/u.test(text) ? text.replaceAll(unseen, "") : "")),
    z.trim(),
    z.minLength(1),
    z.maxLength(max),
    z.regex(printable, { error: noControls }),
  );

/** The base of an address, a key or another text that never has invisible characters: they and blanks at its ends are pasted along. */
export const pastedText = () =>
  storableText().check(
    z.overwrite((text) => text.replaceAll(/\p{Cf}/gu, "")),
    z.trim(),
  );

/** As `line`, of a `pastedText`. */
export const pastedLine = (max: number) =>
  pastedText().check(z.minLength(1), z.maxLength(max), z.regex(printable, { error: noControls }));

/** The exact name of something that exists: as `line`, keeping spaces at its beginning and end. */
export const exactLine = (max: number) =>
  storableText().check(z.minLength(1), z.maxLength(max), z.regex(printable, { error: noControls }));

/** As `line`, or empty. */
export const optionalLine = (max: number) =>
  storableText().check(z.trim(), z.maxLength(max), z.regex(printable, { error: noControls }));

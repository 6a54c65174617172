// The values that requests are made of, with their bounds.
import * as z from "zod/mini";
import { toTimestamp } from "./values.ts";

/** The largest value of an `integer` column; every count and every number of seconds stays below it. */
export const maxInteger = 2_147_483_647;

/** An integer from `min` to `max`, both included. */
export const integer = (min: number, max: number = maxInteger) =>
  z.int().check(z.gte(min), z.lte(max));

/** One of Quarterdeck's own, as its requests and its inventory take it: what its database has columns for. */
export const ownId = integer(1);

/** PostgreSQL keeps no U+0000 in a text, and a lone half of a surrogate pair has no form in UTF-8. */
export const isStorableText = (text: string): boolean =>
  text.isWellFormed() && !text.includes("\0");

/** What every text of a request is made from: it refuses what the database could not keep. */
export const storableText = () =>
  z.string().check(z.refine(isStorableText, { params: { isUnstorable: true }, abort: true }));

const toMilliseconds = "2026-01-31T09:30:00.000".length;

/** Whether a text of the form of a moment names one. Of the form alone, “2026-02-30” would do; and a database knows no year 0. */
function isMoment(text: string): boolean {
  const date = new Date(text);
  return (
    !Number.isNaN(date.getTime()) &&
    date.getUTCFullYear() > 0 &&
    toTimestamp(date).startsWith(text.replace("Z", "").slice(0, toMilliseconds))
  );
}

const momentError = { error: "This must be a time in UTC, such as 2026-01-31T09:30:00Z." };

/** A moment as a request may say it: ISO 8601 in UTC, to the minute or finer. */
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
 * What is pasted along and seen by nobody: zero-width spaces, soft hyphens, marks that turn a line around. Joiners stay, by which
 * emoji and some scripts are spelled.
 */
const unseen = /[\u00ad\u200b\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** What something is to be called: as `line`, without what nobody sees in it. */
export const givenName = (max: number) =>
  storableText().check(
    z.overwrite((text) => text.replaceAll(unseen, "")),
    z.trim(),
    z.minLength(1),
    z.maxLength(max),
    z.regex(printable, { error: noControls }),
  );

/** The name of something that is there: as `line`, with the spaces that it begins or ends with. */
export const exactLine = (max: number) =>
  storableText().check(z.minLength(1), z.maxLength(max), z.regex(printable, { error: noControls }));

/** As `line`, and it may be empty. */
export const optionalLine = (max: number) =>
  storableText().check(z.trim(), z.maxLength(max), z.regex(printable, { error: noControls }));

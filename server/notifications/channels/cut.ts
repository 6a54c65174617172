// Makes text of any length and content fit for a provider, truncated between characters.
import { stripVTControlCharacters } from "node:util";

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

// Longer than any emoji in use, such as families and regional flags. A longer grapheme is a letter with a stack of marks, which is
// truncated within, because nothing would be left without it.
const longestGrapheme = 64;

/**
 * Truncates between two graphemes and appends `…`. Does not read beyond the limit.
 * @param limit UTF-16 units, including the ellipsis. A text never has more code points than units, so the limits of providers that
 * count code points hold as well
 */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const room = limit - 1;
  const split = graphemes.segment(text.slice(0, limit + 1)).containing(room)?.index ?? 0;
  const end = room - split > longestGrapheme ? betweenSurrogates(text, room) : split;
  return `${text.slice(0, end).trimEnd()}…`;
}

/**
 * Removes terminal sequences, control characters other than newline and tab, characters that change the reading direction (with
 * which a text can be disguised), and lone surrogates (which UTF-8 does not have).
 * @param limit UTF-16 units
 */
export const plainText = (text: string, limit: number): string => cut(clean(text, limit), limit);

/** As `plainText`, without line breaks, for titles and labels. */
export const oneLine = (text: string, limit: number): string =>
  cut(clean(text, limit).replace(/\s+/g, " ").trim(), limit);

function clean(text: string, limit: number): string {
  // Truncates roughly first, with reserve for what is removed, because the text may be the whole output of a tool.
  const end = betweenSurrogates(text, limit * 8);
  const kept = stripVTControlCharacters(text.slice(0, end))
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(/[[\p{Cc}\p{Bidi_Control}]--[\n\t]]/gv, "")
    .replace(/^\s*\n/, "")
    .trimEnd();
  return end < text.length ? `${kept}…` : kept;
}

/** @returns the offset, or the one before it where that is inside of a surrogate pair */
const betweenSurrogates = (text: string, place: number): number =>
  (text.codePointAt(place - 1) ?? 0) > 0xffff ? place - 1 : Math.min(place, text.length);

// Text of any length and content, made fit for a provider: cut where no reader sees a broken
// character.
import { stripVTControlCharacters } from "node:util";

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

// The longest emoji in use, families and flags of regions, stay below it. What is longer is one
// letter with a heap of marks, and is cut within: to leave it out would leave nothing.
const longestGrapheme = 64;

/**
 * Cuts between two graphemes and ends with `…`. What is beyond the limit is not looked at.
 * @param limit UTF-16 units, the ellipsis counted. There are never fewer of them than of code
 * points, so this keeps the limits of those providers too that count the latter.
 */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const room = limit - 1;
  const split = graphemes.segment(text.slice(0, limit + 1)).containing(room)?.index ?? 0;
  const end = room - split > longestGrapheme ? betweenSurrogates(text, room) : split;
  return `${text.slice(0, end).trimEnd()}…`;
}

/**
 * Without terminal sequences, control characters other than newline and tab, characters that turn
 * the reading direction (they let a text read as another one), and lone surrogates (they are no
 * UTF-8).
 * @param limit UTF-16 units
 */
export const plainText = (text: string, limit: number): string => cut(clean(text, limit), limit);

/** The same without any line break, for titles and labels. */
export const oneLine = (text: string, limit: number): string =>
  cut(clean(text, limit).replace(/\s+/g, " ").trim(), limit);

function clean(text: string, limit: number): string {
  // Roughly first, with room for what is removed: a tool's whole output may stand here.
  const end = betweenSurrogates(text, limit * 8);
  const kept = stripVTControlCharacters(text.slice(0, end))
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(/[[\p{Cc}\p{Bidi_Control}]--[\n\t]]/gv, "")
    .replace(/^\s*\n/, "")
    .trimEnd();
  return end < text.length ? `${kept}…` : kept;
}

/** The place itself, or one before it, when it would part a surrogate pair. */
const betweenSurrogates = (text: string, place: number): number =>
  (text.codePointAt(place - 1) ?? 0) > 0xffff ? place - 1 : Math.min(place, text.length);

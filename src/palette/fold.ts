// Compares texts without case and accents, like the service's search.
import { type Entry } from "./entry.ts";
import { type Hit, toParts } from "./match.ts";

const foldOne = (letter: string) => letter.normalize("NFKD").replaceAll(/[̀-ͯ]/g, "").toLowerCase();

/** Returns the folded text and, for each of its characters, the index in the original text. */
function fold(text: string): { folded: string; places: number[] } {
  let folded = "";
  const places: number[] = [];
  let at = 0;
  for (const letter of text) {
    const one = foldOne(letter);
    for (let index = 0; index < one.length; index++) places.push(at);
    folded += one;
    at += letter.length;
  }
  places.push(at);
  return { folded, places };
}

const wordsOf = (text: string): string[] => {
  const { folded } = fold(text.trim());
  return folded === "" ? [] : folded.split(/\s+/);
};

/** Returns where the words of `text` occur, as ranges for `toParts`. */
function rangesOf(name: string, text: string): number[] {
  const { folded, places } = fold(name);
  const ranges: [number, number][] = [];
  for (const word of wordsOf(text)) {
    const start = folded.indexOf(word);
    if (start >= 0) ranges.push([places[start] ?? 0, places[start + word.length] ?? name.length]);
  }
  return ranges.sort(([one], [other]) => one - other).flat();
}

export const marked = (entry: Entry, text: string): Hit => ({
  entry,
  label: toParts(entry.label, rangesOf(entry.label, text)),
  detail: toParts(entry.detail, rangesOf(entry.detail, text)),
});

/** Whether the entry contains each word of the text. */
export function holdsWords({ label, detail }: Entry, text: string): boolean {
  const { folded } = fold(`${label} ${detail}`);
  return wordsOf(text).every((word) => folded.includes(word));
}

/**
 * Ranks how well a name matches, 0 = best: it equals the text, begins with it, has a word that does, contains it, or
 * none of these.
 */
export function strength({ label, isExact = false }: Entry, text: string): number {
  const { folded: name } = fold(label);
  const asked = wordsOf(text).join(" ");
  if (isExact || name === asked) return 0;
  if (name.startsWith(asked)) return 1;
  const place = name.indexOf(asked);
  if (place < 0) return 4;
  return /[\p{L}\d]/u.test(name.charAt(place - 1)) ? 3 : 2;
}

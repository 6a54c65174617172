// Matches entries with the text, ranks them, and marks the matching characters.
import uFuzzy from "@leeoniya/ufuzzy";
import type { Entry } from "./entry.ts";

/** A part of a text, and whether it matches. */
export type Part = { text: string; isMatch: boolean };

export type Hit = { entry: Entry; label: readonly Part[]; detail: readonly Part[] };

const anyScript: uFuzzy.Options = {
  unicode: true,
  interSplit: String.raw`[^\p{L}\d']+`,
  intraSplit: String.raw`\p{Ll}\p{Lu}`,
  interBound: String.raw`[^\p{L}\d]`,
  intraBound: String.raw`\p{L}\d|\d\p{L}|\p{Ll}\p{Lu}`,
  intraChars: String.raw`[\p{L}\d']`,
  intraContr: String.raw`'\p{L}{1,2}\b`,
  // Keeps equally good matches in their order.
  compare: () => 0,
};

/**
 * From strict to lenient: the next matcher is used only where nothing was found. Letters with others between them do
 * not match, because with many names nearly anything would.
 */
const matchers = [
  // The words, or their beginnings or parts, in any order.
  new uFuzzy(anyScript),
  // One typing error in a word: "wroker".
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- a `const enum`, whose values are not there when types are only erased
  new uFuzzy({ ...anyScript, intraMode: 1, intraIns: 1, intraSub: 1, intraTrn: 1, intraDel: 1 }),
];
/** Maximum number of words that may be in any order. */
const maxPermuted = 4;

const haystackOf = ({ label, detail }: Entry) => `${label}\n${detail}`;

/**
 * @param ranges start and end of each match, in a longer text
 * @param offset where `text` begins in the longer text
 */
export function toParts(text: string, ranges: readonly number[], offset = 0): Part[] {
  const parts: Part[] = [];
  let done = 0;
  const upTo = (end: number, isMatch: boolean) => {
    if (end > done) parts.push({ text: text.slice(done, end), isMatch });
    done = Math.max(done, end);
  };
  const within = (place: number) => Math.min(text.length, Math.max(0, place - offset));
  for (let index = 0; index + 1 < ranges.length; index += 2) {
    upTo(within(ranges[index] ?? 0), false);
    upTo(within(ranges[index + 1] ?? 0), true);
  }
  upTo(text.length, false);
  return parts;
}

/**
 * With too many words to permute, matches in the given order come first, and matches in any order follow without marks.
 */
function search(matcher: uFuzzy, haystack: string[], text: string): uFuzzy.SearchResult[] {
  const isLong = matcher.split(text).length > maxPermuted;
  return (isLong ? [0, maxPermuted] : [maxPermuted]).map((permuted) =>
    matcher.search(haystack, text, permuted, Infinity),
  );
}

function* found(matcher: uFuzzy, entries: readonly Entry[], text: string): Generator<Hit> {
  for (const [places, info, order] of search(matcher, entries.map(haystackOf), text))
    // With a ranking, an index of `info`; otherwise an index of the haystack.
    for (const place of order ?? places ?? []) {
      const entry = entries[info?.idx[place] ?? place];
      const ranges = info?.ranges[place] ?? [];
      if (entry === undefined) continue;
      yield {
        entry,
        label: toParts(entry.label, ranges),
        detail: toParts(entry.detail, ranges, entry.label.length + 1),
      };
    }
}

/** @returns the best matches first; disabled entries last */
export function rank(entries: readonly Entry[], text: string): Hit[] {
  // uFuzzy would exclude entries with a word after "-".
  const asked = text.replaceAll(/(?<=^|\s)-+/g, "");
  const hits = new Map<Entry, Hit>();
  for (const matcher of matchers) {
    if (hits.size > 0) break;
    for (const hit of found(matcher, entries, asked))
      if (!hits.has(hit.entry)) hits.set(hit.entry, hit);
  }
  const isRefused = ({ entry }: Hit) => entry.refusal !== undefined;
  const all = [...hits.values()];
  return [...all.filter((hit) => !isRefused(hit)), ...all.filter(isRefused)];
}

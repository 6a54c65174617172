// Which entries fit what was typed, the best first, and which of their letters to mark.
import uFuzzy from "@leeoniya/ufuzzy";
import type { Entry } from "./entry.ts";

/** A stretch of text, and whether it was typed. */
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
  // Equally good ones stay in the order in which they come.
  compare: () => 0,
};

/**
 * From strict to lenient: the next one is asked only where nothing was found. Letters with others between them do not
 * match, because with many names nearly anything would.
 */
const matchers = [
  // The words, or what they begin with or hold, in any order.
  new uFuzzy(anyScript),
  // One slip in a word: "wroker".
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- a `const enum`, whose values are not there when types are only erased
  new uFuzzy({ ...anyScript, intraMode: 1, intraIns: 1, intraSub: 1, intraTrn: 1, intraDel: 1 }),
];
/** So many words may come in any order. */
const maxPermuted = 4;

const haystackOf = ({ label, detail }: Entry) => `${label}\n${detail}`;

/** @param ranges start and end of each match, in a text of which this is the part from `offset` on */
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

/** Of more words than can be permuted, the ones in this order come first, and unmarked the ones in any. */
function search(matcher: uFuzzy, haystack: string[], text: string): uFuzzy.SearchResult[] {
  const isLong = matcher.split(text).length > maxPermuted;
  return (isLong ? [0, maxPermuted] : [maxPermuted]).map((permuted) =>
    matcher.search(haystack, text, permuted, Infinity),
  );
}

function* found(matcher: uFuzzy, entries: readonly Entry[], text: string): Generator<Hit> {
  for (const [places, info, order] of search(matcher, entries.map(haystackOf), text))
    // Ranked, each is a place in `info`; otherwise a place in the haystack itself.
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

/** @returns the best first; what cannot be chosen after all else */
export function rank(entries: readonly Entry[], text: string): Hit[] {
  // A word after a "-" would be one that must not be there.
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

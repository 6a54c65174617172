// Shows what was found by the browser's own highlights: no line is rendered for it, and a thousand are searched as fast
// as ten. A browser without them (Firefox before 140) counts and jumps all the same.
import type { Match } from "./log-search.ts";

const names = { all: "found", current: "found-now" } as const;

function toRange(list: Element, { line, start, end }: Match): Range | null {
  const text = list.children[line]?.firstChild;
  if (!(text instanceof Text) || text.length < end) return null;
  const range = new Range();
  range.setStart(text, start);
  range.setEnd(text, end);
  return range;
}

function show(name: string, ranges: readonly (Range | null)[]): void {
  const highlight = new Highlight(...ranges.filter((range) => range !== null));
  if (name === names.current) highlight.priority = 1;
  CSS.highlights.set(name, highlight);
}

/**
 * @param list has a child for each line, in order, which holds nothing but its text
 * @param current the one that was jumped to
 * @returns takes them away again
 */
export function highlight(
  list: Element,
  matches: readonly Match[],
  current: Match | undefined,
): () => void {
  if (!("highlights" in CSS)) return () => undefined;
  const toOwn = (match: Match) => toRange(list, match);
  show(names.all, matches.map(toOwn));
  show(names.current, current === undefined ? [] : [toOwn(current)]);
  return () => {
    for (const name of Object.values(names)) CSS.highlights.delete(name);
  };
}

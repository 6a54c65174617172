// Shows what was found by the browser's own highlights: no line is rendered for it, and a thousand are searched as fast
// as ten. A browser without them (Firefox before 140) counts and jumps all the same.
import type { Match } from "./log-search.ts";

const names = { all: "found", current: "found-now" } as const;

/** Static ones: the browser does not look after them when the log grows, they are made anew then. */
function toRange(list: Element, { line, start, end }: Match): StaticRange | null {
  const text = list.children[line]?.firstChild;
  if (!(text instanceof Text) || text.length < end) return null;
  return new StaticRange({
    startContainer: text,
    startOffset: start,
    endContainer: text,
    endOffset: end,
  });
}

function show(name: string, list: Element, matches: readonly Match[]): void {
  const highlight = new Highlight();
  for (const match of matches) {
    const range = toRange(list, match);
    if (range !== null) highlight.add(range);
  }
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
  show(names.all, list, matches);
  show(names.current, list, current === undefined ? [] : [current]);
  return () => {
    for (const name of Object.values(names)) CSS.highlights.delete(name);
  };
}

// Highlights matches by the CSS Custom Highlight API: no line is rendered again, so a thousand matches are as fast as
// ten. Browsers without it (Firefox before 140) still count matches and jump to them.
import type { Match } from "./log-search.ts";

const names = { all: "found", current: "found-now" } as const;

/** Creates a static range, which the browser does not update when the log grows; it is created again then. */
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
 * @param list has one child for each line, in order, that contains only text
 * @param current the match that was jumped to
 * @returns a function that removes the highlights
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

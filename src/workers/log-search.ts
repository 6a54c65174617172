// Finds a text in a log. Pure; `highlight.ts` shows the matches.
import type { LogLine } from "./log-buffer.ts";

/** `line` is an index of the lines in the buffer; `start` and `end` are positions in its text. */
export type Match = { line: number; start: number; end: number };

/** Returns all matches, ignoring case and without overlaps. */
export function findMatches(lines: readonly LogLine[], needle: string): Match[] {
  if (needle === "") return [];
  const wanted = new RegExp(needle.replace(/[$()*+./?[\\\]^{|}-]/g, String.raw`\$&`), "gi");
  return lines.flatMap(({ text }, line) =>
    [...text.matchAll(wanted)].map(({ index, 0: found }) => ({
      line,
      start: index,
      end: index + found.length,
    })),
  );
}

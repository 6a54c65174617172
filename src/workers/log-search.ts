// Where a text occurs in a log. Pure; `highlight.ts` shows it.
import type { LogLine } from "./log-buffer.ts";

/** `line` counts the lines that are held, `start` and `end` are positions in its text. */
export type Match = { line: number; start: number; end: number };

/** Every occurrence, whatever its case, none within another. */
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

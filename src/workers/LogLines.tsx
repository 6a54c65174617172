import { memo } from "react";
import type { LogLine } from "./log-buffer.ts";

/** Where a text occurs in a line, whatever its case. */
function matchStarts(text: string, needle: string): number[] {
  const [haystack, wanted] = [text.toLowerCase(), needle.toLowerCase()];
  const starts: number[] = [];
  if (wanted === "") return starts;
  for (
    let at = haystack.indexOf(wanted);
    at !== -1;
    at = haystack.indexOf(wanted, at + wanted.length)
  )
    starts.push(at);
  return starts;
}

export const countMatches = (lines: readonly LogLine[], needle: string): number =>
  lines.reduce((sum, { text }) => sum + matchStarts(text, needle).length, 0);

const Line = memo(function Line({ text, needle }: { text: string; needle: string }) {
  const starts = matchStarts(text, needle);
  return (
    <div className="min-h-4 wrap-anywhere whitespace-pre-wrap">
      {text.slice(0, starts[0])}
      {starts.map((start, index) => (
        <span key={start}>
          <mark className="rounded-xs data-[current]:outline-2 data-[current]:outline-accent">
            {text.slice(start, start + needle.length)}
          </mark>
          {text.slice(start + needle.length, starts[index + 1])}
        </span>
      ))}
    </div>
  );
});

type LogLinesProps = { lines: readonly LogLine[]; needle: string };

/** Each line renders once, and again only when what is searched for changes. */
export const LogLines = memo(function LogLines({ lines, needle }: LogLinesProps) {
  return lines.map(({ number, text }) => <Line key={number} text={text} needle={needle} />);
});

import { memo, type Ref } from "react";
import type { LogLine } from "./log-buffer.ts";

const Line = memo(function Line({ text }: { text: string }) {
  return <div className="min-h-4 wrap-anywhere whitespace-pre-wrap">{text}</div>;
});

type LogLinesProps = { ref: Ref<HTMLDivElement>; lines: readonly LogLine[] };

/** Each line renders once; a search changes none of them. */
export const LogLines = memo(function LogLines({ ref, lines }: LogLinesProps) {
  return (
    <div ref={ref}>
      {lines.map(({ number, text }) => (
        <Line key={number} text={text} />
      ))}
    </div>
  );
});

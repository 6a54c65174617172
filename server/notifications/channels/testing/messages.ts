import type { Message } from "../channel.ts";

export const plainMessage: Message = {
  id: "msg_2aF9k",
  outcome: "bad",
  title: "Backup failed: Shop on web-1",
  facts: [
    ["Time", "2026-01-31 09:30 UTC"],
    ["Took", "2 min 4 s"],
  ],
  reason: "pg_dump: error: connection to server failed\nis the server running?",
  link: "http://localhost:4280/backups/12",
};

// Contains all markup of all providers, mentions, and characters of several code points.
const awful =
  "<>&_*~|@everyone <!channel> <@U1> `a` ```\nb``` \\ [c](https://evil.example) :smile: 👨‍👩‍👧‍👦\n- d\n1. e\n# f\n";

export const awfulReason = awful.repeat(Math.ceil(50_000 / awful.length));

export const awfulMessage: Message = {
  id: 'msg_"> \r\nBcc: eve@example.com',
  outcome: "neutral",
  title: awfulReason,
  facts: Array.from({ length: 40 }, () => [awfulReason, awfulReason] as const),
  reason: awfulReason,
  link: `https://quarterdeck.example/backups/12?q=${"x".repeat(400)}`,
};

/** The worst case for each limit: only characters that are escaped or separated. */
export const backtickMessage: Message = {
  ...awfulMessage,
  title: "`".repeat(5000),
  facts: Array.from({ length: 40 }, () => ["`".repeat(500), "`".repeat(5000)] as const),
  reason: "`".repeat(5000),
};

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
const wholeGraphemes = new Set(
  Array.from(graphemes.segment(awfulReason), ({ segment }) => segment),
);

/** Whether a text is the beginning of the whole one, up to the ellipsis, and ends between two graphemes. */
export const isCutOf = (text: string, whole: string): boolean =>
  text.endsWith("…") &&
  whole.startsWith(text.slice(0, -1)) &&
  Array.from(graphemes.segment(text.slice(0, -1))).every(({ segment }) =>
    wholeGraphemes.has(segment),
  );

/** `awfulReason` as one line. */
export const awfulLine = awfulReason.replace(/\s+/g, " ").trim();

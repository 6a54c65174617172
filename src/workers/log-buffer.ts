// The end of a log, put together from pieces. Pure; the page shows what it holds.
import type { WorkerLog } from "../../contract/workers/worker.ts";
import { visibleText } from "../ui/visible-text.ts";

export type LogLine = { number: number; text: string };

export type LogBuffer = {
  lines: readonly LogLine[];
  /** The last line as it came, while its line break has not: the next piece goes on there. */
  open: string;
  /** The byte to ask from. */
  end: number;
  /** The last answer was so full that more waits. */
  isBehind: boolean;
  /** Why nothing more can be read right now. */
  problem: string | null;
};

/** More is not held: it costs memory and nobody scrolls that far. */
export const maxLines = 2_000;

/** An answer holds at most 64 KiB; one that is nearly full was cut at a line. */
const fullBytes = 48 * 1024;

export const rotatedText = "… log rotated; lines may be missing here …";

// Colours, cursor moves (CSI), titles and links (OSC), and other two-character escapes: ECMA-48, section 5.
const escapes =
  // oxlint-disable-next-line no-control-regex -- control characters are what this removes
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-Z^-~\\])/g;

/** A line as a terminal would leave it: without escapes, what a carriage return overwrites is gone, and nothing is hidden. */
export function plainLine(line: string): string {
  const text = line.replace(escapes, "").replace(/\r+$/, "");
  return visibleText(text.slice(text.lastIndexOf("\r") + 1));
}

const emptyBuffer: LogBuffer = { lines: [], open: "", end: 0, isBehind: false, problem: null };

/**
 * Adds an answer to what is there.
 * @returns the same buffer when nothing came, so that nothing renders
 */
export function appendLog(before: LogBuffer = emptyBuffer, answer: WorkerLog): LogBuffer {
  const problem = answer.problem ?? null;
  const isSame =
    answer.text === "" &&
    answer.end === before.end &&
    !answer.rotated &&
    problem === before.problem;
  if (isSame && before !== emptyBuffer)
    return before.isBehind ? { ...before, isBehind: false } : before;

  // An open line is shown as the last one; it is taken back and completed, unless the log began anew.
  const isContinued = !answer.rotated && before.open !== "";
  const kept = isContinued ? before.lines.slice(0, -1) : before.lines;
  const texts = ((isContinued ? before.open : "") + answer.text).split("\n");
  const open = texts.at(-1) ?? "";
  const shown = open === "" ? texts.slice(0, -1) : texts;
  const added = answer.rotated && before.lines.length > 0 ? [rotatedText, ...shown] : shown;
  const first = (kept.at(-1)?.number ?? 0) + 1;
  const lines = [
    ...kept,
    ...added.map((text, index) => ({ number: first + index, text: plainLine(text) })),
  ];
  return {
    lines: lines.slice(-maxLines),
    open,
    end: answer.end,
    isBehind: answer.end - answer.start >= fullBytes,
    problem,
  };
}

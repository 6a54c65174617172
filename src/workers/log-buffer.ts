// The end of a log, assembled from responses. Pure.
import type { WorkerLog } from "../../contract/workers/worker.ts";
import { visibleText } from "../ui/text/visible-text.ts";

export type LogLine = { number: number; text: string };

export type LogBuffer = {
  lines: readonly LogLine[];
  /** The raw text of the last line while it has no line break: the next response continues it. */
  open: string;
  /** The offset of the next request, in bytes. */
  end: number;
  /** Whether the last response was nearly full, so that more is waiting. */
  isBehind: boolean;
  /** Why nothing more can be read now. */
  problem: string | null;
};

/** Maximum number of lines: more would cost memory, and nobody scrolls that far. */
export const maxLines = 2_000;

/** A response holds at most 64 KiB and is cut at a line, so a nearly full one was cut. */
const fullBytes = 48 * 1024;

export const rotatedText = "… log rotated; lines may be missing here …";

// Colors, cursor moves (CSI), titles and links (OSC), and other two-character escapes: ECMA-48, section 5.
const escapes =
  // oxlint-disable-next-line no-control-regex -- control characters are what this removes
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-Z^-~\\])/g;

/**
 * Returns a line as a terminal would show it: without escapes and overwritten text, and with invisible characters made
 * visible.
 */
export function plainLine(line: string): string {
  const text = line.replace(escapes, "").replace(/\r+$/, "");
  return visibleText(text.slice(text.lastIndexOf("\r") + 1));
}

const emptyBuffer: LogBuffer = { lines: [], open: "", end: 0, isBehind: false, problem: null };

/**
 * Appends a response to the buffer.
 * @returns the same buffer where the response is empty, so that nothing renders
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

  // An unfinished line is shown as the last one, and replaced once completed, unless the log was rotated.
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

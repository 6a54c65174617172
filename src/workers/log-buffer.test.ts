import { expect, test } from "vitest";
import { appendLog, type LogBuffer, maxLines, plainLine, rotatedText } from "./log-buffer.ts";

const piece = (text: string, start: number, rotated = false) => ({
  text,
  start,
  end: start + text.length,
  rotated,
});

const texts = (buffer: LogBuffer) => buffer.lines.map(({ text }) => text);

test("splits pieces into lines", () => {
  const first = appendLog(undefined, piece("one\ntwo\n", 0));
  const second = appendLog(first, piece("three\n", first.end));
  expect(texts(second)).toEqual(["one", "two", "three"]);
  expect(second.end).toBe(14);
});

test("joins a line that arrives in two pieces, and shows it from the first piece on", () => {
  const first = appendLog(undefined, piece("one\nhalf", 0));
  expect(texts(first)).toEqual(["one", "half"]);
  const second = appendLog(first, piece(" done\n", first.end));
  expect(texts(second)).toEqual(["one", "half done"]);
  expect(second.lines.map(({ number }) => number)).toEqual([1, 2]);
});

test("removes an escape sequence that is split in two", () => {
  const first = appendLog(undefined, piece("\u001b[3", 0));
  expect(texts(appendLog(first, piece("2mgreen\u001b[0m\n", first.end)))).toEqual(["green"]);
});

test("shows a bidirectional control character instead of applying it", () => {
  const { lines } = appendLog(undefined, piece("paid \u202e0001\n", 0));
  expect(lines[0]?.text).toBe(String.raw`paid \u202e0001`);
});

test("returns the same buffer without new text, so that nothing renders", () => {
  const buffer = appendLog(undefined, piece("one\n", 0));
  expect(appendLog(buffer, piece("", buffer.end))).toBe(buffer);
});

test("an empty log is a buffer without lines", () => {
  expect(texts(appendLog(undefined, piece("", 0)))).toEqual([]);
});

test("a rotation reports possibly missing lines, and completes no old line", () => {
  const first = appendLog(undefined, piece("one\nhalf", 0));
  expect(texts(appendLog(first, piece("new\n", 0, true)))).toEqual([
    "one",
    "half",
    rotatedText,
    "new",
  ]);
});

test("removes old lines, and keeps the numbers of the others", () => {
  const many = Array.from({ length: maxLines }, (_, index) => `line ${index + 1}\n`).join("");
  const first = appendLog(undefined, piece(many, 0));
  const second = appendLog(first, piece("last\n", first.end));
  expect(second.lines).toHaveLength(maxLines);
  expect(second.lines[0]).toEqual({ number: 2, text: "line 2" });
  expect(second.lines.at(-1)).toEqual({ number: maxLines + 1, text: "last" });
});

test("a full response means that there is more", () => {
  const full = appendLog(undefined, piece(`${"x".repeat(60_000)}\n`, 0));
  expect(full.isBehind).toBe(true);
  expect(appendLog(full, piece("", full.end)).isBehind).toBe(false);
});

test.each([
  ["plain", "plain"],
  ["\u001b[1;31mred\u001b[0m text", "red text"],
  ["\u001b]0;title\u0007after", "after"],
  ["\u001b]8;;https://x\u001b\\link\u001b]8;;\u001b\\", "link"],
  ["10 %\r50 %\r100 %", "100 %"],
  ["windows\r", "windows"],
  ["\u001b(Bascii", "ascii"],
])("renders a line like a terminal: %j", (line, expected) => {
  expect(plainLine(line)).toBe(expected);
});

import { expect, test } from "vitest";
import { cut, oneLine, plainText } from "./cut.ts";

const family = "👨‍👩‍👧‍👦";

test.each([
  ["short", 10, "short"],
  ["just fits", 9, "just fits"],
  ["does not fit", 9, "does not…"],
  [`ab${family}`, 10, "ab…"],
  [`${family}${family}`, 12, `${family}…`],
  ["a🎉b", 3, "a…"],
  ["e\u0301e\u0301e\u0301", 4, "e\u0301…"],
  ["🇩🇪🇫🇷", 6, "🇩🇪…"],
])("truncates “%s” to %i as “%s”", (text, limit, expected) => {
  expect(cut(text, limit)).toBe(expected);
  expect(cut(text, limit).length).toBeLessThanOrEqual(limit);
});

test("truncates a letter with many combining marks within it instead of omitting it", () => {
  const heap = `a${"\u0301".repeat(5000)}`;
  expect(cut(heap, 100)).toBe(`a${"\u0301".repeat(98)}…`);
});

test("no limit splits a surrogate pair, not even in an endless chain of joined emoji", () => {
  const chain = "👩\u200d".repeat(1000);
  for (let limit = 1; limit < 300; limit++) {
    expect(cut(chain, limit).isWellFormed()).toBe(true);
    expect(plainText(chain, limit).isWellFormed()).toBe(true);
  }
});

test.each([
  ["a\0b\x07c\x1bd\x7fe\x9ff", "abcdef"],
  ["\x1b[31mred\x1b[0m", "red"],
  ["10 %\r20 %\r\n30 %", "10 %\n20 %\n30 %"],
  ["a\tb\nc", "a\tb\nc"],
  ["lone \ud83d half", "lone \ufffd half"],
  ["\n \n  indented\n\n", "  indented"],
  ["invoice\u202efdp.exe", "invoicefdp.exe"],
  [family, family],
])("truncates %j to %j", (text, expected) => {
  expect(plainText(text, 100)).toBe(expected);
});

test("marks a text as truncated if its preliminary truncation removed something", () => {
  expect(plainText(`a${"\0".repeat(5000)}b`, 100)).toBe("a…");
});

test("a single line contains no line break of any kind", () => {
  expect(oneLine(" a\r\nBcc: b\u2028c\td  e ", 100)).toBe("a Bcc: b c d e");
});

test("truncates five megabytes without reading them", () => {
  const piece = `${family}\x1b[31m<`;
  /** Returns the shortest of many durations, so that other work on the machine does not matter. */
  const cutMs = (text: string) => {
    const tries = Array.from({ length: 50 }, () => {
      const began = performance.now();
      plainText(text, 800);
      return performance.now() - began;
    });
    return Math.min(...tries);
  };
  const huge = piece.repeat(300_000);
  const short = piece.repeat(300);
  // One text is a thousand times as long as the other.
  expect(cutMs(huge) / cutMs(short)).toBeLessThan(100);
});

import { expect, test } from "vitest";
import { visibleText } from "./visible-text.ts";

test.each([
  ["right to left override", "paid \u202e0001 EUR", String.raw`paid \u202e0001 EUR`],
  ["isolates", "\u2066a\u2069", String.raw`\u2066a\u2069`],
  ["marks", "a\u200eb\u200fc\u061cd", String.raw`a\u200eb\u200fc\u061cd`],
  ["zero width space and byte order mark", "a\u200bb\ufeff", String.raw`a\u200bb\ufeff`],
  ["soft hyphen and word joiner", "a\u00adb\u2060c", String.raw`a\u00adb\u2060c`],
  ["tags", "a\u{e0041}", String.raw`a\u{e0041}`],
  ["line separators", "a\u2028b\u2029c", String.raw`a\u2028b\u2029c`],
  ["controls", "a\u0000\u0008\u001b\u007f\u0085", String.raw`a\u0000\u0008\u001b\u007f\u0085`],
  ["a joiner between letters that need none", "pay\u200dpal", String.raw`pay\u200dpal`],
  ["a joiner at the end", "👨\u200d", "👨" + String.raw`\u200d`],
])("makes visible: %s", (_name, text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

test.each([
  "tab\tand\nbreak",
  "Grüße, 日本語, עברית, العربية",
  "👨‍👩‍👧 👩🏽‍💻 🏳️‍🌈 🦜",
  "می‌خواهم",
  String.raw`already \u202e`,
])("leaves unchanged: %s", (text) => {
  expect(visibleText(text)).toBe(text);
});

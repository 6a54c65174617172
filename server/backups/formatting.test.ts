import { expect, test } from "vitest";
import { slugOf } from "../../contract/backups/slug.ts";
import { createOutput } from "./output.ts";
import { objectKey } from "./run/take-backup.ts";
import { sizeInWords, durationInWords, shortDuration } from "./formatting.ts";

test.each([
  [0, "0 seconds"],
  [999, "0 seconds"],
  [1000, "1 second"],
  [3400, "3 seconds"],
  [59_999, "59 seconds"],
  [60_000, "1 minute"],
  [3_599_000, "59 minutes"],
  [7_200_000, "2 hours"],
  [90_000_000, "1 day"],
  [-5, "0 seconds"],
])("%i ms is %s", (ms, words) => {
  expect(durationInWords(ms)).toBe(words);
});

test.each([
  [0, "0 s"],
  [640, "0.6 s"],
  [9_940, "9.9 s"],
  [42_300, "42 s"],
  [59_600, "1 min"],
  [300_000, "5 min"],
  [7_800_000, "2 h 10 min"],
  [7_200_000, "2 h"],
])("%i ms reads %s", (ms, words) => {
  expect(shortDuration(ms)).toBe(words);
});

test.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1000, "1 kB"],
  [4_140_000, "4.1 MB"],
  [999_999, "1 MB"],
  [123_456_789, "123 MB"],
  [2_000_000_000, "2 GB"],
])("%i bytes are %s", (bytes, words) => {
  expect(sizeInWords(bytes)).toBe(words);
});

test.each([
  ["Shop, nightly", "shop-nightly"],
  ["Äpfel & Öl", "apfel-ol"],
  ["../../etc", "etc"],
  ["日本", "backups"],
])("the directory of “%s” is %s", (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});

test("an object's name contains its configuration, its backup, its time and its attempt", () => {
  expect(
    objectKey({ directory: "shop", id: 4 }, 12, new Date("2026-03-01T02:30:05.123Z"), 0, "tar"),
  ).toBe("shop/4/12-20260301T023005Z-0.tar.zst");
});

test("truncates an output at its beginning", () => {
  const output = createOutput();
  output.say("a b\n\n");
  expect(output.text()).toBe("a b\n");
  output.say("x".repeat(20_000));
  output.say("the end");
  expect(output.text()).toHaveLength(16 * 1024);
  expect(output.text().startsWith("…")).toBe(true);
  expect(output.text().endsWith("the end\n")).toBe(true);
});

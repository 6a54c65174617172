import { expect, test } from "vitest";
import { toPage } from "./entry.ts";
import { holdsWords, marked, strength } from "./fold.ts";

const entry = (label: string, detail = "") => toPage("site", label, detail, "/");
const marks = (label: string, text: string) =>
  marked(entry(label), text).label.map((part) => (part.isMatch ? `[${part.text}]` : part.text));

test.each([
  ["shop.example.com", "EXAMPLE", "shop.[example].com"],
  ["münchen.example.com", "munch", "[münch]en.example.com"],
  ["ﬁnance", "nan", "ﬁ[nan]ce"],
  ["emails on redis", "redis emails", "[emails] on [redis]"],
  ["shop.example.com", "spxm", "shop.example.com"],
  ["shop.example.com", " ", "shop.example.com"],
])("highlights in %s what matches %s", (label, text, expected) => {
  expect(marks(label, text).join("")).toBe(expected);
});

test.each([
  ["emails", "emails", 0],
  ["Émails", "emails", 0],
  ["emails on redis", "ema", 1],
  ["emails on redis", "redis", 2],
  ["emails on redis", "mail", 3],
  ["emails on redis", "shop", 4],
])("%s for %s has strength %i", (label, text, expected) => {
  expect(strength(entry(label), text)).toBe(expected);
});

test("an exact id is as strong as the name", () => {
  expect(strength({ ...entry("emails on redis"), isExact: true }, "worker 7")).toBe(0);
});

test("all words must be in the name or the detail literally", () => {
  const worker = entry("emails on redis", "shop.example.com");
  expect(holdsWords(worker, "shop ema")).toBe(true);
  expect(holdsWords(worker, "shop xyz")).toBe(false);
  expect(holdsWords(worker, "eml")).toBe(false);
});

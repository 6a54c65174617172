import { expect, test } from "vitest";
import { toPage } from "./entry.ts";
import { rank, toParts } from "./match.ts";

const entries = [
  toPage("site", "shop.example.com workers", "Site 3", "/sites/3/workers"),
  toPage("webhook", "shop.example.com webhooks", "Site 3", "/sites/3/webhooks"),
  toPage("site", "münchen.example.com workers", "Site 4", "/sites/4/workers"),
  toPage("backup", "Заказы, ночью", "Configuration 2", "/backup-configurations/2"),
  { ...toPage("act", "Stop worker 12", "", "a"), refusal: "It is stopping." },
  toPage("act", "Restart worker 7", "", "b"),
  toPage("act", "Restart worker 12", "", "c"),
  toPage("restart", "Worker 12", "high,default · shop.example.com", "/workers/12"),
];

const labels = (text: string) => rank(entries, text).map(({ entry }) => entry.label);

test.each([
  ["words", "shop work", "shop.example.com workers"],
  ["words in another order", "webh shop", "shop.example.com webhooks"],
  ["a part of a word", "hop", "shop.example.com workers"],
  ["many words", "shop.example.com workers site 3", "shop.example.com workers"],
  ["many words in another order", "3 site workers shop.example.com", "shop.example.com workers"],
  ["words with a dash before one", "shop -webh", "shop.example.com webhooks"],
  ["a typo", "restrat 7", "Restart worker 7"],
  ["words of the detail", "high", "Worker 12"],
  ["capitals and umlauts", "MÜN", "münchen.example.com workers"],
  ["another script", "заказ", "Заказы, ночью"],
  ["an object before its actions", "worker 12", "Worker 12"],
])("finds an entry by %s: %s", (_what, text, label) => {
  expect(labels(text)[0]).toBe(label);
});

test("ranks an exact number before one with the same prefix", () => {
  const [long, short] = ["Restart worker 71", "Restart worker 7"].map((label) =>
    toPage("act", label, "", label),
  );
  if (long === undefined || short === undefined) throw new Error("There are two.");
  for (const text of ["restart 7", "7 restart", "restart worker 7"])
    expect(rank([long, short], text)[0]?.entry).toBe(short);
});

test("keeps the order of equally good matches", () => {
  expect(labels("restart")).toEqual(["Restart worker 7", "Restart worker 12"]);
});

test("ranks disabled entries last, however well they match", () => {
  expect(labels("12").at(-1)).toBe("Stop worker 12");
});

test.each(["xyzzy qq", "?", "…", "shpwbh", "rw7", "spxm"])(
  "finds nothing for a text without a match: %s",
  (text) => {
    expect(labels(text)).toEqual([]);
  },
);

test("highlighting neither loses nor duplicates a letter, in whichever part it is", () => {
  for (const text of ["shop webh", "12", "o", "worker 12 high", "site 3"])
    for (const { entry, label, detail } of rank(entries, text)) {
      expect(label.map((part) => part.text).join("")).toBe(entry.label);
      expect(detail.map((part) => part.text).join("")).toBe(entry.detail);
    }
});

test("clips highlights that extend beyond a part", () => {
  expect(toParts("Site 3", [2, 12, 15, 99], 10)).toEqual([
    { text: "Si", isMatch: true },
    { text: "te ", isMatch: false },
    { text: "3", isMatch: true },
  ]);
});

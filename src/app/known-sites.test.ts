import { expect, test } from "vitest";
import { readKnownSites, withKnownSite } from "./known-sites.ts";

const one = { address: "https://ops.example.com", id: 1 };

test.each([null, "", "nonsense", "{}", '[{"id":"1"}]', "[null]"])(
  "what is no list of sites is an empty one: %s",
  (text) => {
    expect(readKnownSites(text)).toEqual([]);
  },
);

test("what was stored is read again", () => {
  expect(readKnownSites(JSON.stringify([one]))).toEqual([one]);
});

test("a site that is opened again moves to the front and is there once", () => {
  const two = { ...one, id: 2 };
  expect(withKnownSite([two, one], one)).toEqual([one, two]);
});

test("the same id of another service is another site", () => {
  const other = { ...one, address: "" };
  expect(withKnownSite([one], other)).toEqual([other, one]);
});

test("the list does not grow without end", () => {
  const many = Array.from({ length: 50 }, (_, index) => ({ address: "", id: index + 1 }));
  expect(many.reduce<readonly (typeof one)[]>(withKnownSite, [])).toHaveLength(20);
});

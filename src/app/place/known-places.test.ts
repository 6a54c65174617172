import { expect, test } from "vitest";
import { readKnownPlaces, withKnownPlace } from "./known-places.ts";

const one = { address: "https://ops.example.com", id: 1 };

test.each([null, "", "nonsense", "{}", '[{"id":"1"}]', "[null]"])(
  "treats an invalid list as empty: %s",
  (text) => {
    expect(readKnownPlaces(text)).toEqual([]);
  },
);

test("reads back what it stored", () => {
  expect(readKnownPlaces(JSON.stringify([one]))).toEqual([one]);
});

test("moves a reopened place to the front, without a duplicate", () => {
  const two = { ...one, id: 2 };
  expect(withKnownPlace([two, one], one)).toEqual([one, two]);
});

test("treats the same id of another service as another place", () => {
  const other = { ...one, address: "" };
  expect(withKnownPlace([one], other)).toEqual([other, one]);
});

test("limits the length of the list", () => {
  const many = Array.from({ length: 50 }, (_, index) => ({ address: "", id: index + 1 }));
  expect(many.reduce<readonly (typeof one)[]>(withKnownPlace, [])).toHaveLength(20);
});

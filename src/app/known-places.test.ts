import { expect, test } from "vitest";
import { readKnownPlaces, withKnownPlace } from "./known-places.ts";

const one = { address: "https://ops.example.com", id: 1 };

test.each([null, "", "nonsense", "{}", '[{"id":"1"}]', "[null]"])(
  "what is no list of places is an empty one: %s",
  (text) => {
    expect(readKnownPlaces(text)).toEqual([]);
  },
);

test("what was stored is read again", () => {
  expect(readKnownPlaces(JSON.stringify([one]))).toEqual([one]);
});

test("a place that is opened again moves to the front and is there once", () => {
  const two = { ...one, id: 2 };
  expect(withKnownPlace([two, one], one)).toEqual([one, two]);
});

test("the same id of another service is another place", () => {
  const other = { ...one, address: "" };
  expect(withKnownPlace([one], other)).toEqual([other, one]);
});

test("the list does not grow without end", () => {
  const many = Array.from({ length: 50 }, (_, index) => ({ address: "", id: index + 1 }));
  expect(many.reduce<readonly (typeof one)[]>(withKnownPlace, [])).toHaveLength(20);
});

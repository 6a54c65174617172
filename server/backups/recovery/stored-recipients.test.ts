import { expect, test } from "vitest";
import { areSame } from "./stored-recipients.ts";

test.each([
  [["age1a", "age1b"], ["age1b", "age1a"], true],
  [["age1a", "age1a"], ["age1a"], true],
  [["age1a", "age1a"], ["age1a", "age1b"], false],
  [["age1a"], [], false],
])("recipients %j and %j are equal: %s", (one, other, expected) => {
  expect([areSame(one, other), areSame(other, one)]).toEqual([expected, expected]);
});

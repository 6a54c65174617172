import { expect, test } from "vitest";
import { refusalOf } from "./watch-permission.ts";

test.each([
  [{ abilities: ["read"] as const }, "This token can only read."],
  [{ abilities: ["*"] as const }, undefined],
  [{ abilities: ["read", "*"] as const }, undefined],
  // A service without tokens of its own, or one that did not answer yet, is the one to say.
  [null, undefined],
  [undefined, undefined],
])("%o is held back by: %s", (token, refusal) => {
  expect(refusalOf(token && { abilities: [...token.abilities] })).toBe(refusal);
});

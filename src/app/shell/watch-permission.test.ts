import { expect, test } from "vitest";
import { refusalOf } from "./watch-permission.ts";

test.each([
  [{ abilities: ["read"] as const }, "This token can only read."],
  [{ abilities: ["*"] as const }, undefined],
  [{ abilities: ["read", "*"] as const }, undefined],
  // Without a token's data, e.g. before the response, the service itself decides.
  [null, undefined],
  [undefined, undefined],
])("%o is refused with: %s", (token, refusal) => {
  expect(refusalOf(token && { abilities: [...token.abilities] })).toBe(refusal);
});

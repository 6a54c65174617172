import { expect, test } from "vitest";
import { listen } from "./http/listen.ts";
import { expectedErrorMessage } from "./expected-error.ts";

test("a HOST that this machine does not have is told in a sentence", async () => {
  const error: unknown = await listen(() => new Response(), 0, "192.0.2.1").catch(
    (reason: unknown) => reason,
  );
  expect(expectedErrorMessage(error)).toBe("This machine has no address 192.0.2.1. Correct HOST.");
});

test("what ends because of a lost database is not said to connect again by itself", () => {
  const error = new Error("timeout exceeded when trying to connect");
  expect(expectedErrorMessage(new Error("deeper", { cause: error }))).toMatch(
    /^The database is not responding\. Check .*, then try again\.$/,
  );
});

import { expect, test } from "vitest";
import { listen } from "./http/listen.ts";
import { expectedErrorMessage } from "./expected-error.ts";

test("reports a HOST that this machine does not have in one sentence", async () => {
  const error: unknown = await listen(() => new Response(), 0, "192.0.2.1").catch(
    (reason: unknown) => reason,
  );
  expect(expectedErrorMessage(error)).toBe("This machine has no address 192.0.2.1. Correct HOST.");
});

test("does not say that the service reconnects when it exits because of a lost database", () => {
  const error = new Error("timeout exceeded when trying to connect");
  expect(expectedErrorMessage(new Error("deeper", { cause: error }))).toMatch(
    /^The database is not responding\. Check .*, then try again\.$/,
  );
});

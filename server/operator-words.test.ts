import { expect, test } from "vitest";
import { listen } from "./http/listen.ts";
import { operatorWords } from "./operator-words.ts";

test("a HOST that this machine does not have is told in a sentence", async () => {
  const error: unknown = await listen(() => new Response(), 0, "192.0.2.1").catch(
    (reason: unknown) => reason,
  );
  expect(operatorWords(error)).toBe("This machine has no address 192.0.2.1. Correct HOST.");
});

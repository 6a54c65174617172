import { expect, test } from "vitest";
import { createLimiter } from "./limiter.ts";

test("callers that can wait run after all others, and aborted ones never", async () => {
  const limiter = createLimiter(1);
  const begun: string[] = [];
  const first = Promise.withResolvers<void>();
  const giving = new AbortController();
  const come = (name: string, signal?: AbortSignal, canWait = false) =>
    limiter.run(async () => void begun.push(name), signal, canWait);
  const all = [
    limiter.run(() => first.promise),
    come("failed before", undefined, true),
    come("gave up", giving.signal),
    come("one"),
    come("other"),
  ];
  giving.abort();
  first.resolve();
  await Promise.allSettled(all);
  expect(begun).toEqual(["one", "other", "failed before"]);
});

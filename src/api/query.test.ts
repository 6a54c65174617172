import { expect, test, vi } from "vitest";
import { ApiError } from "./api-error.ts";

test("limits a very long Retry-After to an hour", async () => {
  vi.stubGlobal("location", { hash: "", href: "http://localhost/", host: "localhost" });
  const { queryClient } = await import("./query.ts");
  const { retryDelay } = queryClient.getDefaultOptions().queries ?? {};
  const waitMs = (retryAfterMs: number) =>
    typeof retryDelay === "function" &&
    retryDelay(0, new ApiError(503, "Closed.", { retryAfterMs }));
  expect(waitMs(5000)).toBe(5000);
  // A timer of more than 2^31 ms would fire at once.
  expect(waitMs(2 ** 40)).toBe(3_600_000);
});

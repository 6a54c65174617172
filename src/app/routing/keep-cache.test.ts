import type { Query } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { ApiError } from "../../api/api-error.ts";
import { toKept } from "./keep-cache.ts";

const response = (
  name: string,
  data: unknown,
  dataUpdatedAt = 1,
  error: ApiError | null = null,
): Pick<Query, "queryKey" | "state"> => ({
  queryKey: [name, {}, {}],
  // The function reads only these fields of a query's state.
  state: { data, dataUpdatedAt, error } as Query["state"],
});

const names = (kept: readonly string[]) => kept.map((text) => JSON.parse(text)[0][0]);

test("stores only responses that are known to contain no secret", () => {
  const kept = toKept([
    response("listWorkers", { data: [] }),
    response("showWorkerLog", { lines: ["password=hunter2"] }),
    response("listTokens", { data: [] }),
    response("parent", 3),
  ]);
  expect(names(kept)).toEqual(["listWorkers"]);
});

test.each(["whsec_c2VjcmV0", `qd_${"a".repeat(40)}01234567`])(
  "does not store a response with a secret in it, whoever put it there: %s",
  (secret) => {
    expect(toKept([response("showWebhook", { id: 1, secret })])).toEqual([]);
  },
);

test("stores the newest responses up to a total size, and none that is too large", () => {
  const kept = toKept([
    response("showWorker", "x".repeat(99_000), 1),
    ...Array.from({ length: 9 }, (_, index) => response("showSite", "y".repeat(80_000), 2 + index)),
    response("showBackup", "z".repeat(100_001), 99),
  ]);
  expect(kept.join("").length).toBeLessThanOrEqual(500_000);
  expect(new Set(names(kept))).toEqual(new Set(["showSite"]));
});

test("stores a response whose refetch failed, but not one that was refused since, or none at all", () => {
  const kept = toKept([
    response(
      "showSite",
      { id: 1 },
      1,
      new ApiError("unreachable", "The service is not responding."),
    ),
    response("showWorker", { id: 1 }, 1, new ApiError(404, "Not found.")),
    response("showWebhook", undefined),
  ]);
  expect(names(kept)).toEqual(["showSite"]);
});

import type { Query } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { ApiError } from "../api/api-error.ts";
import { toKept } from "./keep-cache.ts";

const answer = (
  name: string,
  data: unknown,
  dataUpdatedAt = 1,
  error: ApiError | null = null,
): Pick<Query, "queryKey" | "state"> => ({
  queryKey: [name, {}, {}],
  // Of a query's state three facts count here.
  state: { data, dataUpdatedAt, error } as Query["state"],
});

const names = (kept: readonly string[]) => kept.map((text) => JSON.parse(text)[0][0]);

test("only answers that are known to hold no secret are kept", () => {
  const kept = toKept([
    answer("listWorkers", { data: [] }),
    answer("showWorkerLog", { lines: ["password=hunter2"] }),
    answer("listTokens", { data: [] }),
    answer("parent", 3),
  ]);
  expect(names(kept)).toEqual(["listWorkers"]);
});

test.each(["whsec_c2VjcmV0", `qd_${"a".repeat(40)}01234567`])(
  "an answer with a secret in it is not kept, whoever put it there: %s",
  (secret) => {
    expect(toKept([answer("showWebhook", { id: 1, secret })])).toEqual([]);
  },
);

test("the newest come first, up to a length, and none is too long", () => {
  const kept = toKept([
    answer("showWorker", "x".repeat(99_000), 1),
    ...Array.from({ length: 9 }, (_, index) => answer("showSite", "y".repeat(80_000), 2 + index)),
    answer("showBackup", "z".repeat(100_001), 99),
  ]);
  expect(kept.join("").length).toBeLessThanOrEqual(500_000);
  expect(new Set(names(kept))).toEqual(new Set(["showSite"]));
});

test("an answer that could not be renewed is kept, one that was refused since and none at all are not", () => {
  const kept = toKept([
    answer("showSite", { id: 1 }, 1, new ApiError("unreachable", "The service is not responding.")),
    answer("showWorker", { id: 1 }, 1, new ApiError(404, "Not found.")),
    answer("showWebhook", undefined),
  ]);
  expect(names(kept)).toEqual(["showSite"]);
});

import type { Query } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { ApiError } from "../api/api-error.ts";
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

test("only responses that are known to hold no secret are kept", () => {
  const kept = toKept([
    response("listWorkers", { data: [] }),
    response("showWorkerLog", { lines: ["password=hunter2"] }),
    response("listTokens", { data: [] }),
    response("parent", 3),
  ]);
  expect(names(kept)).toEqual(["listWorkers"]);
});

test.each(["whsec_c2VjcmV0", `qd_${"a".repeat(40)}01234567`])(
  "a response with a secret in it is not kept, whoever put it there: %s",
  (secret) => {
    expect(toKept([response("showWebhook", { id: 1, secret })])).toEqual([]);
  },
);

test("the newest come first, up to a length, and none is too long", () => {
  const kept = toKept([
    response("showWorker", "x".repeat(99_000), 1),
    ...Array.from({ length: 9 }, (_, index) => response("showSite", "y".repeat(80_000), 2 + index)),
    response("showBackup", "z".repeat(100_001), 99),
  ]);
  expect(kept.join("").length).toBeLessThanOrEqual(500_000);
  expect(new Set(names(kept))).toEqual(new Set(["showSite"]));
});

test("a response that could not be renewed is kept, one that was refused since and none at all are not", () => {
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

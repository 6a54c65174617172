import { expect, test } from "vitest";
import { paths } from "../paths.ts";
import { readFilter, toQuery, withServer } from "./filter.ts";

test.each([
  ["", {}],
  ["?server=1&site=2&kind=backup", { server: 1, site: 2, kind: "backup" }],
  ["?server=-1&site=x&kind=everything", {}],
  [
    "?actor=ada&q=shop&from=2026-01-31&to=2026-02-01",
    { actor: "ada", q: "shop", from: "2026-01-31", to: "2026-02-01" },
  ],
  ["?actor=&q=&from=yesterday&to=2026-1-1", {}],
  ["?from=2026-02-30&to=0026-02-01", {}],
  ["?actor=%00&q=a%00b&kind=worker", { kind: "worker" }],
  ["?server=&kind=worker&page=3", { kind: "worker" }],
])("reads a filter from the URL: %s", (search, expected) => {
  expect(readFilter(search)).toEqual(expected);
});

test("reads back what it writes into a URL", () => {
  const filter = readFilter("?server=1&site=2&kind=backup");
  expect(readFilter(new URL(paths.activity(filter), "http://localhost").search)).toEqual(filter);
  expect(toQuery(filter)).toEqual({ server: "1", site: "2", kind: "backup" });
});

test("selecting another server removes its sites and keeps the kind", () => {
  const filter = readFilter("?server=1&site=2&kind=backup");
  expect(withServer(filter, 3)).toEqual({ server: 3, kind: "backup" });
  expect(withServer(filter, undefined)).toEqual({ kind: "backup" });
});

test("days begin and end in the viewer's time zone", () => {
  expect(toQuery({ from: "2026-01-31", to: "2026-01-31" })).toEqual({
    from: new Date(2026, 0, 31).toISOString(),
    to: new Date(2026, 1, 1).toISOString(),
  });
});

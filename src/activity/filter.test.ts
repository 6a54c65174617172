import { expect, test } from "vitest";
import { paths } from "../paths.ts";
import { readFilter, toQuery, withServer } from "./filter.ts";

test.each([
  ["", {}],
  ["?server=1&site=2&kind=backup", { server: 1, site: 2, kind: "backup" }],
  ["?server=-1&site=x&kind=everything", {}],
  ["?server=&kind=worker&page=3", { kind: "worker" }],
])("a filter is read from the address: %s", (search, expected) => {
  expect(readFilter(search)).toEqual(expected);
});

test("what is written into an address is read back the same", () => {
  const filter = readFilter("?server=1&site=2&kind=backup");
  expect(readFilter(new URL(paths.activity(filter), "http://localhost").search)).toEqual(filter);
  expect(toQuery(filter)).toEqual({ server: "1", site: "2", kind: "backup" });
});

test("another server takes its sites away and leaves the kind", () => {
  const filter = readFilter("?server=1&site=2&kind=backup");
  expect(withServer(filter, 3)).toEqual({ server: 3, kind: "backup" });
  expect(withServer(filter, undefined)).toEqual({ kind: "backup" });
});

import { expect, test } from "vitest";
import { whyNotTables } from "./restore-fits.ts";

test("does not report a table without listed rows as missing if it may be a virtual one", () => {
  const complaintsOf = (path: string, wanted: string[]) =>
    whyNotTables(
      { path, manifest: { kind: "database", tables: { orders: 3 } } },
      { tables: wanted, part: null },
    );
  expect(complaintsOf("shop/1/1-20260610T023000Z-0.sqlite.zst", ["orders"])).toEqual({});
  expect(complaintsOf("shop/1/1-20260610T023000Z-0.sqlite.zst", ["orders", "words"])).toEqual({
    tables: [
      "The backup lists no rows of words. Virtual tables, and the tables behind them, come back with the whole database alone.",
    ],
  });
  expect(complaintsOf("shop/1/1-20260610T023000Z-0.dump.zst", ["words"])).toEqual({
    tables: ["The backup contains no table words."],
  });
});

import { expect, test } from "vitest";
import { tellCopied, tellUnchecked } from "./check-queries.ts";

test("reports in a run's output what a check skips for a missing function, and leaves collations to its warnings, whatever the names of tables", () => {
  const named = "log that uses the function now()";
  const ordered = tellUnchecked([named], new Map([[named, "GERMAN"]]));
  expect(tellCopied({ [named]: 1 }, ordered)).toBe("1 table with 1 row; integrity check passed.");
  const asking = tellUnchecked(["t"], new Map(), new Set(["twice()"]));
  expect(tellCopied({ t: 1 }, [...ordered, ...asking])).toMatch(
    /^1 table with 1 row; integrity check passed\. Table t uses the function twice\(\), [^.]+\.$/,
  );
});

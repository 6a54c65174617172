import { expect, test } from "vitest";
import { findAnomalies, manifestWarnings, type Measured } from "./anomalies.ts";

const measured = (sizeBytes: number, minutes = 1, checksum = `${sizeBytes} ${minutes}`) =>
  ({ sizeBytes, durationMs: minutes * 60_000, checksum, isEncrypted: false }) satisfies Measured;
const usual = [1000, 1100, 900, 1000, 1050, 950, 1000].map((size, index) =>
  measured(size * 1000, 1 + index / 100),
);

test.each<[string, Measured, Measured[], RegExp[]]>([
  ["no earlier backup", measured(4096), [], []],
  ["an empty backup", measured(200), [], [/Nearly empty: 200 bytes/]],
  ["as large as usual", measured(1_020_000), usual, []],
  ["half as large", measured(490_000), usual, [/490 kB, usually about 1 MB/]],
  ["twice as large", measured(2_000_000), usual, [/2 MB, usually about 1 MB/]],
  ["too few earlier backups", measured(1), usual.slice(0, 2), [/Nearly empty/]],
  ["slow", measured(1_000_000, 5), usual, [/5 min, usually about 1 min/]],
  [
    "slow compared to some that read nothing",
    measured(1_000_000, 5),
    usual.map((one, index) => ({ ...one, durationMs: index < 5 ? null : one.durationMs })),
    [],
  ],
  [
    "slow, but short nevertheless",
    measured(1_000_000, 1),
    usual.map((one) => ({ ...one, durationMs: 900 })),
    [],
  ],
])("%s", (_, now, before, expected) => {
  const warnings = findAnomalies(now, before);
  expect(warnings).toHaveLength(expected.length);
  expected.forEach((pattern, index) => expect(warnings[index]).toMatch(pattern));
});

test("warns if the previous backup was encrypted and this one is not", () => {
  const plain = measured(5000);
  const sealed = { ...plain, isEncrypted: true };
  expect(findAnomalies(plain, [sealed])).toEqual([expect.stringMatching(/^Stored unencrypted/)]);
  expect(findAnomalies(sealed, [plain, sealed])).toEqual([]);
  expect(findAnomalies(plain, [plain, sealed])).toEqual([]);
});

test("warns about seven identical backups, and not about six", () => {
  const same = measured(5000, 1, "abc");
  const six = Array.from({ length: 6 }, () => same);
  expect(findAnomalies(same, six)).toEqual([expect.stringMatching(/identical/)]);
  expect(findAnomalies(same, six.slice(1))).toEqual([]);
  expect(findAnomalies(measured(5000, 1, "abd"), six)).toEqual([]);
});

test("warns about damaged databases in a site, separately from those that could not be checked", () => {
  const warningsOf = (...problems: (string | null | false)[]) => {
    const databases = problems.map((problem, index) => {
      const name = `${index}.sqlite`;
      if (problem !== false) return { name, problem };
      return { name, problem: "SQLite cannot open it.", isOpened: false as const };
    });
    return manifestWarnings({ kind: "folder", entries: 1, bytes: 1, digest: "", databases });
  };
  const closed = false;
  const torn = "the integrity check found: row 1 missing from index i";
  expect(warningsOf(null)).toEqual([]);
  expect(warningsOf(closed)).toEqual([
    "A SQLite database in the site could not be opened, and is stored as it lies: 0.sqlite. See the output for the reason.",
  ]);
  expect(warningsOf(closed, null, torn, torn, torn, torn, torn)).toEqual([
    "SQLite databases in the site are damaged: 2.sqlite, 3.sqlite, 4.sqlite and 2 more. See the output for the reason.",
    "A SQLite database in the site could not be opened, and is stored as it lies: 0.sqlite. See the output for the reason.",
  ]);
  expect(warningsOf(closed, closed)).toEqual([
    "SQLite databases in the site could not be opened, and are stored as they lie: 0.sqlite, 1.sqlite. See the output for the reason.",
  ]);
});

import { describe, expect, test } from "vitest";
import { findProcess } from "./adoption.ts";
import type { MarkedProcess } from "./process-table.ts";
import type { RunRecord } from "./run-file.ts";

const mark = (pid: number, given: Partial<MarkedProcess> = {}): MarkedProcess => ({
  uid: 0,
  pid,
  group: pid,
  session: pid,
  startTime: String(pid),
  worker: 1,
  number: 1,
  nonce: "new",
  isEnclosed: false,
  ...given,
});

const record = (given: Partial<RunRecord> = {}): RunRecord => ({
  boot: "boot",
  nonce: "new",
  pid: 10,
  startTime: "10",
  state: "RUNNING",
  since: 0,
  exitCode: null,
  restarts: 0,
  failures: 0,
  order: null,
  ...given,
});

const starting = record({ state: "STARTING", pid: null, startTime: null });

const find = (given: RunRecord | null, marks: MarkedProcess[], alive = marks) =>
  findProcess(given, marks, {
    boot: "boot",
    isAlive: ({ pid, startTime }) =>
      alive.some((one) => one.pid === pid && one.startTime === startTime),
    hasGroup: ({ pid }) => alive.some(({ group }) => group === pid),
  });

describe("The process of a slot", () => {
  test.for<[string, RunRecord | null, MarkedProcess[], string, number | null]>([
    ["is the recorded one", record(), [mark(10), mark(11)], "process", 10],
    ["has the recorded start time", record({ startTime: "9" }), [mark(10)], "nothing", null],
    ["is of this boot", record({ boot: "earlier" }), [mark(10)], "nothing", null],
    [
      "is found by its mark, if the service was killed before it recorded the pid",
      starting,
      [mark(12), mark(11), mark(9, { nonce: "old" })],
      "process",
      11,
    ],
    ["is none, if the service was killed before it was started", starting, [], "nothing", null],
    [
      "is none, if only children of an ended process run",
      record(),
      [mark(11), mark(12, { group: 11 })],
      "nothing",
      null,
    ],
    [
      "is none, if only its control group is known",
      null,
      [mark(11, { nonce: "", isEnclosed: true })],
      "nothing",
      null,
    ],
    [
      "is not a leftover of an earlier one",
      starting,
      [mark(11, { nonce: "old" })],
      "nothing",
      null,
    ],
    ["leads a group", starting, [mark(11, { group: 9 })], "nothing", null],
    [
      "is a group without its leader",
      record({ state: "STOPPING" }),
      [mark(11, { group: 10, session: 10 })],
      "group",
      10,
    ],
    ["is the oldest, without a record", null, [mark(12), mark(11)], "process", 11],
    ["is none, without record or mark", null, [], "nothing", null],
    [
      "is the recorded one, if its start time could not be read",
      record({ startTime: null }),
      [mark(9), mark(10)],
      "process",
      10,
    ],
  ])("%s", ([, given, marks, kind, pid]) => {
    const { found, extra } = find(given, marks);
    expect(found.kind).toBe(kind);
    expect(found.kind === "nothing" ? null : found.leader.pid).toBe(pid);
    expect(extra).toEqual([]);
  });

  test("is found although its mark cannot be read", () => {
    expect(find(record(), [], [mark(10)]).found).toMatchObject({
      kind: "process",
      leader: { pid: 10, startTime: "10" },
    });
  });

  test("excludes other processes that were started for the slot, if there is no record", () => {
    const { found, extra } = find(null, [
      mark(10, { nonce: "a" }),
      mark(11, { nonce: "a" }),
      mark(12, { nonce: "b" }),
    ]);
    expect(found).toMatchObject({ leader: { pid: 10 }, nonce: "a" });
    expect(extra.map(({ pid }) => pid)).toEqual([12]);
  });
});

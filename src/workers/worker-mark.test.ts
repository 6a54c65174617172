import { expect, test } from "vitest";
import type { Worker } from "../../contract/workers/worker.ts";
import { inState, plain } from "./testing/workers.ts";
import { markOf, sentenceOf } from "./worker-mark.ts";

const said = (change: Partial<Worker>) => {
  const mark = markOf({ ...plain, ...change });
  return [mark.tone, mark.word, sentenceOf(mark)];
};
const loop = { since: "2026-01-31T09:30:00.000000Z", reason: "Process 1 exited." };
const reason = "Process 2: Gave up.\nLast lines of the log:\nboom";

test("separates the log's last lines from the reason, in a crash loop, too", () => {
  const parts = { reason: "Process 2: Gave up.", logTail: "boom" };
  expect(markOf({ ...plain, status: "failed", status_reason: reason })).toMatchObject(parts);
  expect(markOf({ ...plain, crash_loop: { ...loop, reason } })).toMatchObject(parts);
  expect(markOf({ ...plain, status: "failed", status_reason: "One.\nTwo." })).toMatchObject({
    reason: "One.\nTwo.",
    logTail: null,
  });
});

test.each<[string, Partial<Worker>, ReturnType<typeof said>]>([
  ["all is well", { status: "installed" }, ["good", "installed", null]],
  [
    "crash-looping",
    { status: "installed", crash_loop: loop },
    ["bad", "crash-looping", "Process 1 exited."],
  ],
  [
    "stopped after a crash loop",
    { status: "stopped", crash_loop: loop },
    ["idle", "stopped", null],
  ],
  ["failed", { status: "failed", status_reason: reason }, ["bad", "failed", "Process 2: Gave up."]],
  [
    "unreachable, with a waiting order",
    {
      status: "unreachable",
      status_reason: "web-1 did not respond.",
      last_status: "installed",
      pending_status: "stopping",
    },
    ["idle", "unreachable", "Last known: installed, stopping once it is back"],
  ],
  [
    "unreachable in transit, with a waiting order for the same state",
    { status: "unreachable", last_status: "restarting", pending_status: "restarting" },
    ["idle", "unreachable", "Last known: restarting, restarting again once it is back"],
  ],
  [
    "partly failed",
    {
      status: "failed",
      status_reason: reason,
      processes: 2,
      process_list: [inState("RUNNING", 30), inState("FATAL", 30)],
    },
    ["bad", "failed", "1 of 2 up. Process 2: Gave up."],
  ],
  [
    "up on an older release",
    {
      status: "installed",
      deployment_id: 2,
      process_list: [{ ...inState("RUNNING", 30), deployment_id: 1 }],
    },
    ["warn", "needs attention", "0 of 1 on the new release"],
  ],
  [
    "up, with a reverted change",
    { status: "installed", status_reason: "The change was undone. Process 1: Gave up." },
    ["warn", "needs attention", "The change was undone. Process 1: Gave up."],
  ],
  ["in transit", { status: "restarting", status_reason: reason }, ["busy", "restarting", null]],
  ["on an unreachable server", { status: "unreachable" }, ["idle", "unreachable", null]],
  ["in a state of another service", { status: "hibernated" }, ["idle", "hibernated", null]],
])("has one mark, one color, and one sentence: %s", (_, change, mark) => {
  expect(said(change)).toEqual(mark);
});

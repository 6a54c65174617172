// Tests the states that are inferred between two polls of a process.
import { expect, test } from "vitest";
import type { ProcessState } from "../../../contract/workers/worker.ts";
import { programOf } from "../supervisor/testing/supervisor.ts";
import type { Observed } from "./observed.ts";
import { createSeenProcess } from "./seen-process.ts";

const program = programOf(1, { startsecs: 3 });

/** @param changed called with each state */
function createSeen(
  changed: (state: ProcessState) => void = () => undefined,
  nowMs: () => number = () => 0,
) {
  const seen = createSeenProcess(
    {
      nowMs,
      program: () => program,
      deployedAtMs: () => 0,
      restarting: () => undefined,
      changed: () => changed(seen.state()),
    },
    {
      isUp: () => true,
      isEnding: () => false,
      isStart: () => false,
      isAsWanted: () => true,
      startedFor: () => program,
      noteStart: () => undefined,
      noteReturn: () => undefined,
    },
  );
  return seen;
}

const quiet = { stop: 0, exitCode: null, spawnError: "" };

/** @returns the states inferred from two polls, the second one of another run; each start is in seconds */
function statesOf(next: Pick<Observed, "state" | "start">): ProcessState[] {
  const states: ProcessState[] = [];
  const seen = createSeen((state) => states.push(state));
  const look = (state: ProcessState, pid: number, start: number) =>
    seen.take({ ...quiet, state, pid, start, startedAtMs: start * 1000 }, null, false);
  look("STARTING", 10, 100);
  look(next.state, 11, next.start);
  return states;
}

test.each<[string, Pick<Observed, "state" | "start">, ProcessState[]]>([
  [
    "within the start seconds of the previous one follows a failed start",
    { state: "STARTING", start: 102 },
    ["STARTING", "BACKOFF", "STARTING"],
  ],
  [
    "within the start seconds of the previous one may be up by now",
    { state: "RUNNING", start: 102 },
    ["STARTING", "BACKOFF", "STARTING", "RUNNING"],
  ],
  [
    "after the start seconds follows a run that was up",
    { state: "STARTING", start: 103 },
    ["STARTING", "RUNNING", "EXITED", "STARTING"],
  ],
])("a run that began %s", (_, next, states) => {
  expect(statesOf(next)).toEqual(states);
});

test("a failed start has no exit code, even if an earlier poll has read that of the run before", () => {
  const seen = createSeen();
  const at = { ...quiet, start: 100, startedAtMs: 100_000 };
  const exit = { code: 3, signal: null };
  seen.take({ ...at, state: "RUNNING", pid: 10 }, null, true);
  seen.take({ ...at, state: "EXITED", pid: null }, exit, false);
  expect(seen.status()).toMatchObject({ exitCode: 3 });
  seen.take({ ...at, state: "FATAL", pid: null, spawnError: "can't find command" }, null, false);
  expect(seen.status()).toMatchObject({ exitCode: null });
});

test("an outage ended with the start seconds of the process, however late it is seen to be up", () => {
  let now = 100_000;
  const seen = createSeen(undefined, () => now);
  const look = (state: ProcessState, pid: number | null, start: number) =>
    seen.take(
      { ...quiet, state, pid, start, startedAtMs: start * 1000 },
      { code: 1, signal: null },
      false,
    );
  look("RUNNING", 10, 100);
  now = 150_000;
  look("EXITED", null, 100);
  now = 151_000;
  look("STARTING", 11, 151);
  now = 400_000;
  look("RUNNING", 11, 151);
  expect(seen.status().outages).toEqual([{ at: 150_000, backAt: 154_000 }]);
});

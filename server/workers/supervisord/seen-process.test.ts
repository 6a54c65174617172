// Tests the states that are inferred between two polls of a process.
import { expect, test } from "vitest";
import type { ProcessState } from "../../../contract/workers/worker.ts";
import { programOf } from "../supervisor/testing/supervisor.ts";
import type { Observed } from "./observed.ts";
import { createSeenProcess } from "./seen-process.ts";

/** @returns the states inferred from two polls, the second one of another run; each start is in seconds */
function statesOf(next: Pick<Observed, "state" | "start">): ProcessState[] {
  const program = programOf(1, { startsecs: 3 });
  const states: ProcessState[] = [];
  const seen = createSeenProcess(
    {
      nowMs: () => 0,
      program: () => program,
      deployedAtMs: () => 0,
      restarting: () => undefined,
      changed: () => void states.push(seen.state()),
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
  const look = (state: ProcessState, pid: number, start: number) =>
    seen.take({ state, pid, start, startedAtMs: start * 1000, spawnError: "" }, null, false);
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

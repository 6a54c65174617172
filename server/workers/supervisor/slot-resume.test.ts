import { describe, expect, test } from "vitest";
import type { RunRecord } from "./run-file.ts";
import { seconds, setUp } from "./testing/slot.ts";

describe("After a restart of the service", () => {
  const leader = { pid: 50, startTime: "7" };
  const found = { kind: "process", leader, nonce: "old" } as const;
  const nothing = { kind: "nothing" } as const;
  const recordOf = (given: Partial<RunRecord>): RunRecord => ({
    boot: "boot",
    nonce: "old",
    pid: 50,
    startTime: "7",
    state: "RUNNING",
    since: 1_700_000_000_000 - 60 * seconds,
    exitCode: 3,
    restarts: 4,
    failures: 0,
    order: null,
    ...given,
  });

  test("a running process continues, with its history", () => {
    const { slot, system, clock } = setUp();
    system.addGroup(50);
    const outages = [{ at: 1_600_000_000_000, backAt: 1_600_000_001_000 }];
    slot.resume(recordOf({ deployment: 7, outages }), found, true);
    clock.advance(60 * seconds);
    expect(slot.status()).toEqual({
      number: 1,
      pid: 50,
      state: "RUNNING",
      since: new Date(1_700_000_000_000 - 60 * seconds),
      exitCode: 3,
      restarts: 4,
      reason: null,
      deployment: 7,
      settings: 0,
      isBetweenRuns: false,
      upAt: null,
      outages,
      lastEnd: null,
    });
    expect(system.starts()).toBe(0);
    expect(system.records.at(-1)).toMatchObject({ nonce: "old", pid: 50, startTime: "7" });
  });

  test("its exit is noticed within half a second, with an unknown exit code", () => {
    const { slot, system, clock } = setUp();
    system.addGroup(50);
    slot.resume(recordOf({}), found, true);
    system.endGroup();
    clock.advance(500);
    expect(slot.status()).toMatchObject({ pid: 101, exitCode: null, restarts: 5 });
    expect(system.history).toEqual(["RUNNING", "EXITED", "STARTING"]);
  });

  test.for([
    ["what was left of its start seconds", -4, 6],
    ["all of them, if the clock was set back", 3600, 10],
    ["none of them, if it was away for longer", -3600, 0],
  ] as const)("a start waits %s", ([, sinceSeconds, leftSeconds]) => {
    const { slot, system, clock } = setUp({ startsecs: 10 });
    system.addGroup(50);
    const since = 1_700_000_000_000 + sinceSeconds * seconds;
    slot.resume(recordOf({ state: "STARTING", since }), found, true);
    expect(slot.status().state).toBe("STARTING");
    clock.advance(leftSeconds * seconds - 1);
    expect(slot.status().state).toBe("STARTING");
    clock.advance(1);
    expect(slot.status().state).toBe("RUNNING");
  });

  test("an outage ended with the start seconds of a process that came up meanwhile", () => {
    const { slot, system, clock } = setUp({ startsecs: 10 });
    system.addGroup(50);
    const since = 1_700_000_000_000 - 3600 * seconds;
    const at = since - seconds;
    slot.resume(
      recordOf({ state: "STARTING", since, outages: [{ at, backAt: null }] }),
      found,
      true,
    );
    clock.advance(seconds);
    expect(slot.status()).toMatchObject({
      state: "RUNNING",
      outages: [{ at, backAt: since + 10 * seconds }],
    });
  });

  test.for([
    ["RUNNING", true, ["STARTING"], 5],
    ["EXITED", true, ["STARTING"], 5],
    ["BACKOFF", true, ["STARTING"], 5],
    ["STOPPING", true, ["STARTING"], 0],
    ["STOPPED", true, ["STARTING"], 0],
    ["FATAL", true, ["STARTING"], 0],
    ["RUNNING", false, ["STOPPED"], 4],
    ["STOPPING", false, ["STOPPED"], 4],
    ["STOPPED", false, [], 4],
    ["FATAL", false, ["STOPPED"], 4],
  ] as const)(
    "a process that was %s and is gone, and should be up: %s",
    ([state, up, history, restarts]) => {
      const { slot, system } = setUp();
      const pid = state === "RUNNING" || state === "STOPPING" ? 50 : null;
      slot.resume(recordOf({ state, pid }), nothing, up);
      expect(system.history).toEqual(history);
      expect(slot.status().restarts).toBe(restarts);
      expect(slot.status().exitCode).toBe(pid === null ? 3 : null);
      expect(slot.status().state).toBe(history[0] ?? state);
    },
  );

  test("a stop in progress is completed, followed by the requested start", () => {
    for (const up of [true, false]) {
      const { slot, system, clock } = setUp({ stopwaitsecs: 2 });
      system.addGroup(50);
      slot.resume(recordOf({ state: "STOPPING" }), found, up);
      clock.advance(2 * seconds);
      expect(system.signals).toEqual([up ? "leader SIGTERM" : "SIGTERM", "SIGKILL"]);
      system.endGroup();
      clock.advance(500);
      expect(system.history).toEqual(["STOPPING", "STOPPED", ...(up ? ["STARTING"] : [])]);
    }
  });

  test("children that a stop was waiting for are ended after it", () => {
    const { slot, system, clock } = setUp({ stopwaitsecs: 2 });
    system.addGroup(50);
    slot.resume(recordOf({ state: "STOPPING" }), { ...found, kind: "group" }, false);
    clock.advance(2 * seconds);
    expect(system.signals).toEqual(["SIGTERM", "SIGKILL"]);
    system.endGroup();
    clock.advance(100);
    expect(slot.status().state).toBe("STOPPED");
  });

  test("children of a process that exited by itself do not delay the next one", () => {
    const { slot, system } = setUp();
    system.addGroup(50);
    slot.resume(recordOf({}), { ...found, kind: "group" }, true);
    expect(slot.status()).toMatchObject({ state: "STARTING", pid: 101 });
    expect(system.signals).toEqual([]);
  });

  test("a process that should be down is stopped", () => {
    const { slot, system } = setUp();
    system.addGroup(50);
    slot.resume(recordOf({}), found, false);
    expect(system.history).toEqual(["RUNNING", "STOPPING"]);
    expect(system.signals).toEqual(["SIGTERM"]);
  });
});

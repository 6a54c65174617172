// The rules of one process, with a clock turned by hand and a system that does what the test says.
import { describe, expect, test } from "vitest";
import type { Program } from "../process-manager.ts";
import type { RunRecord } from "./run-file.ts";
import { isDone, seconds, setUp } from "./slot-testing.ts";

describe("A start", () => {
  test("is RUNNING after its start seconds, not before", () => {
    const { slot, clock } = setUp({ startsecs: 5 });
    slot.start();
    clock.advance(5 * seconds - 1);
    expect(slot.status().state).toBe("STARTING");
    clock.advance(1);
    expect(slot.status()).toMatchObject({ state: "RUNNING", pid: 101, restarts: 0 });
  });

  test("that ends after its start seconds was RUNNING, also when a busy service sees the end first", () => {
    const { slot, system, clock } = setUp({ startsecs: 5, startretries: 0 });
    slot.start();
    // The wait is due as well, and has not had its turn yet.
    clock.jump(5 * seconds);
    system.exit(0);
    expect(system.history).toEqual(["STARTING", "RUNNING", "EXITED"]);
    clock.advance(seconds);
    expect(slot.status()).toMatchObject({ state: "STARTING", restarts: 1 });
  });

  test("without start seconds is RUNNING at once", () => {
    const { slot, system } = setUp({ startsecs: 0 });
    slot.start();
    expect(system.history).toEqual(["STARTING", "RUNNING"]);
  });

  test("without start seconds comes back at most once a second", () => {
    const { slot, system, clock } = setUp({ startsecs: 0 });
    slot.start();
    for (let round = 0; round < 5; round += 1) {
      system.exit(0);
      expect(slot.status().state).toBe("EXITED");
      clock.advance(999);
      expect(system.starts()).toBe(round + 1);
      clock.advance(1);
    }
    expect(system.starts()).toBe(6);
  });

  test.for([
    { startretries: 0, waits: [] },
    { startretries: 1, waits: [1] },
    { startretries: 3, waits: [1, 2, 3] },
  ])("is retried after $waits seconds, then FATAL", ({ startretries, waits }) => {
    const { slot, system, clock } = setUp({ startretries });
    slot.start();
    for (const wait of waits) {
      system.exit(0);
      expect(slot.status().state).toBe("BACKOFF");
      clock.advance(wait * seconds - 1);
      expect(slot.status().state).toBe("BACKOFF");
      clock.advance(1);
      expect(slot.status().state).toBe("STARTING");
    }
    system.exit(0);
    clock.advance(0);
    expect(system.starts()).toBe(startretries + 1);
    expect(slot.status()).toMatchObject({ state: "FATAL", exitCode: 0, restarts: startretries });
    expect(system.restarts).toBe(startretries);
    clock.advance(3600 * seconds);
    expect(system.starts()).toBe(startretries + 1);
  });

  test("that reaches RUNNING has its earlier failures forgotten", () => {
    const { slot, system, clock } = setUp({ startretries: 1 });
    slot.start();
    for (let round = 0; round < 4; round += 1) {
      system.exit(1);
      clock.advance(1 * seconds);
      clock.advance(1 * seconds);
      expect(slot.status().state).toBe("RUNNING");
      system.exit(0);
      clock.advance(0);
      expect(slot.status().state).toBe("STARTING");
    }
  });

  test("that cannot even be tried counts as a failed one", () => {
    const { slot, system, clock } = setUp({ startretries: 1, startsecs: 0 });
    system.launches = "fail";
    slot.start();
    system.failLaunch();
    clock.advance(1 * seconds);
    system.failLaunch();
    clock.advance(0);
    expect(system.history).toEqual(["STARTING", "BACKOFF", "STARTING", "BACKOFF", "FATAL"]);
    expect(slot.status().reason).toBe("Couldn't start: it was not found.");
  });

  test("is not made while its record cannot be written, because nobody would find it again", async () => {
    const { slot, system, clock } = setUp();
    system.saves = false;
    slot.start();
    await Promise.resolve();
    expect(slot.status()).toMatchObject({ state: "BACKOFF", pid: null });
    expect(system.starts()).toBe(0);
    system.saves = true;
    clock.advance(1 * seconds);
    expect(slot.status()).toMatchObject({ state: "STARTING", pid: 101 });
  });

  test("writes its nonce before the process and the pid after it", () => {
    const { slot, system } = setUp();
    slot.start();
    expect(system.records).toMatchObject([
      { state: "STARTING", nonce: "nonce-0", pid: null, startTime: null },
      { state: "STARTING", nonce: "nonce-0", pid: 101, startTime: "1" },
    ]);
  });

  test.for(["FATAL", "BACKOFF", "EXITED", "STOPPED"])("begins anew from %s", (from) => {
    const { slot, system, clock } = setUp({ startretries: from === "FATAL" ? 0 : 3 });
    if (from !== "STOPPED") {
      slot.start();
      if (from === "EXITED") clock.advance(1 * seconds);
      system.exit(1);
      if (from === "FATAL") clock.advance(0);
    }
    expect(slot.status().state).toBe(from);
    slot.start();
    expect(slot.status()).toMatchObject({ state: "STARTING", restarts: 0, reason: null });
    clock.advance(1 * seconds);
    expect(slot.status().state).toBe("RUNNING");
  });

  test("leaves what is STARTING or RUNNING as it is", () => {
    const { slot, system, clock } = setUp();
    slot.start();
    slot.start();
    clock.advance(1 * seconds);
    slot.start();
    expect(system.starts()).toBe(1);
  });
});

describe("Why it failed", () => {
  const giveUp = (codes: (number | null)[], startsecs = 1) => {
    const { slot, system, clock } = setUp({ startretries: codes.length - 1, startsecs });
    slot.start();
    codes.forEach((code, index) => {
      system.exit(code, code === null ? "SIGSEGV" : null);
      clock.advance(index + 1 === codes.length ? 0 : (index + 1) * seconds);
    });
    expect(slot.status().state).toBe("FATAL");
    return slot.status().reason;
  };

  test.for([
    [[1], 1, "Exited with code 1 within 1 second."],
    [[1, 1, 1, 1], 1, "Exited with code 1 within 1 second, 4 times in a row."],
    [[0, 0], 5, "Exited with code 0 within 5 seconds, 2 times in a row."],
    [[null, null], 1, "Killed by SIGSEGV within 1 second, 2 times in a row."],
    [[255, 1], 1, "Exited with code 1 within 1 second. Gave up after 2 failed starts."],
  ] as const)("%o", ([codes, startsecs, reason]) => {
    expect(giveUp([...codes], startsecs)).toBe(reason);
  });

  test("is still said while it is tried again, and no more once it runs", () => {
    const { slot, system, clock } = setUp();
    slot.start();
    system.exit(2);
    expect(slot.status().reason).toBe("Exited with code 2 within 1 second.");
    clock.advance(1 * seconds);
    expect(slot.status()).toMatchObject({
      state: "STARTING",
      reason: "Exited with code 2 within 1 second.",
    });
    clock.advance(1 * seconds);
    expect(slot.status()).toMatchObject({ state: "RUNNING", reason: null });
  });
});

describe("A stop", () => {
  const run = (given: Partial<Program> = {}) => {
    const all = setUp(given);
    all.slot.start();
    all.clock.advance(1 * seconds);
    return all;
  };

  test("signals once, waits its time, then kills until nobody is left", async () => {
    const { slot, system, clock } = run({ stopsignal: "INT", stopwaitsecs: 7 });
    const done = slot.stop();
    clock.advance(7 * seconds - 1);
    expect(system.signals).toEqual(["SIGINT"]);
    clock.advance(1);
    expect(system.signals).toEqual(["SIGINT", "SIGKILL"]);
    clock.advance(1 * seconds);
    expect(system.signals).toEqual(["SIGINT", "SIGKILL", "SIGKILL"]);
    expect(await isDone(done)).toBe(false);
    system.exit(null, "SIGKILL");
    expect(await isDone(done)).toBe(true);
    clock.advance(3600 * seconds);
    expect(system.history).toEqual(["STARTING", "RUNNING", "STOPPING", "STOPPED"]);
    expect(system.signals).toHaveLength(3);
  });

  test("is over only when the children of the leader are gone as well", async () => {
    const { slot, system, clock } = run({ stopwaitsecs: 3 });
    const done = slot.stop();
    system.exit(0, null, true);
    clock.advance(2 * seconds);
    expect(slot.status().state).toBe("STOPPING");
    expect(system.signals).toEqual(["SIGTERM"]);
    clock.advance(1 * seconds);
    expect(system.signals).toEqual(["SIGTERM", "SIGKILL"]);
    system.endGroup();
    clock.advance(100);
    expect(slot.status()).toMatchObject({ state: "STOPPED", exitCode: 0 });
    expect(await isDone(done)).toBe(true);
  });

  test.for(["BACKOFF", "EXITED", "FATAL"])("in %s is STOPPED at once, for good", async (from) => {
    const { slot, system, clock } = setUp({ startretries: from === "FATAL" ? 0 : 3 });
    slot.start();
    if (from === "EXITED") clock.advance(1 * seconds);
    system.exit(1);
    if (from === "FATAL") clock.advance(0);
    expect(slot.status().state).toBe(from);
    expect(await isDone(slot.stop())).toBe(true);
    clock.advance(3600 * seconds);
    expect(slot.status()).toMatchObject({ state: "STOPPED", reason: null });
    expect(system.starts()).toBe(1);
  });

  test("while a start is failing wins over the failure", async () => {
    const { slot, system, clock } = setUp();
    system.launches = "fail";
    slot.start();
    expect(await isDone(slot.stop())).toBe(true);
    system.failLaunch();
    clock.advance(3600 * seconds);
    expect(system.history).toEqual(["STARTING", "STOPPED"]);
  });

  test("asked for by whoever hears of a change takes effect at that very step", () => {
    for (const at of ["STARTING", "BACKOFF", "EXITED", "RUNNING"]) {
      const { slot, system, clock } = setUp({ startretries: 1 });
      system.onChange = () => {
        if (slot.status().state === at) void slot.stop();
      };
      slot.start();
      if (at === "EXITED" || at === "RUNNING") clock.advance(1 * seconds);
      if (at !== "STARTING" && at !== "RUNNING") system.exit(1);
      else system.exit(null, "SIGTERM");
      clock.advance(3600 * seconds);
      expect(slot.status().state).toBe("STOPPED");
      expect(system.starts()).toBe(1);
    }
  });

  test("followed by a start brings it up again once it is down", () => {
    const { slot, system, clock } = run();
    void slot.stop();
    slot.start();
    expect(system.starts()).toBe(1);
    system.exit(0);
    clock.advance(1 * seconds);
    expect(system.history.slice(2)).toEqual(["STOPPING", "STOPPED", "STARTING", "RUNNING"]);
  });

  test("during a restart wins over it", async () => {
    const { slot, system, clock } = run();
    const restarting = slot.restart();
    const stopping = slot.stop();
    system.exit(0);
    expect(await isDone(restarting)).toBe(true);
    expect(await isDone(stopping)).toBe(true);
    clock.advance(3600 * seconds);
    expect(slot.status().state).toBe("STOPPED");
    expect(system.starts()).toBe(1);
  });
});

describe("A clock that jumps", () => {
  test.for([-86_400, 86_400])("%i s changes no wait", (jump) => {
    const { slot, system, clock } = setUp({ stopwaitsecs: 5 });
    slot.start();
    clock.jump(jump * seconds);
    clock.advance(1 * seconds);
    expect(slot.status().state).toBe("RUNNING");
    clock.jump(jump * seconds);
    system.exit(0);
    clock.advance(1 * seconds);
    expect(system.starts()).toBe(2);
    clock.jump(jump * seconds);
    clock.advance(1 * seconds);
    void slot.stop();
    clock.jump(jump * seconds);
    clock.advance(5 * seconds);
    expect(system.signals).toEqual(["SIGTERM", "SIGKILL"]);
  });
});

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

  test("a process that runs goes on, with its past", () => {
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
      isBetweenRuns: false,
      upAt: null,
      outages,
    });
    expect(system.starts()).toBe(0);
    expect(system.records.at(-1)).toMatchObject({ nonce: "old", pid: 50, startTime: "7" });
  });

  test("its end is noticed within half a second, with an exit code that nobody saw", () => {
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
    "one that was %s and is gone, and should be up: %s",
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

  test("a stop that was under way is finished, and what is wanted starts after it", () => {
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

  test("children that a stop left to their time are ended after it", () => {
    const { slot, system, clock } = setUp({ stopwaitsecs: 2 });
    system.addGroup(50);
    slot.resume(recordOf({ state: "STOPPING" }), { ...found, kind: "group" }, false);
    clock.advance(2 * seconds);
    expect(system.signals).toEqual(["SIGTERM", "SIGKILL"]);
    system.endGroup();
    clock.advance(100);
    expect(slot.status().state).toBe("STOPPED");
  });

  test("children of a process that ended by itself do not hold up the next one", () => {
    const { slot, system } = setUp();
    system.addGroup(50);
    slot.resume(recordOf({}), { ...found, kind: "group" }, true);
    expect(slot.status()).toMatchObject({ state: "STARTING", pid: 101 });
    expect(system.signals).toEqual([]);
  });

  test("what should be down is stopped", () => {
    const { slot, system } = setUp();
    system.addGroup(50);
    slot.resume(recordOf({}), found, false);
    expect(system.history).toEqual(["RUNNING", "STOPPING"]);
    expect(system.signals).toEqual(["SIGTERM"]);
  });
});

test("A released slot does nothing more, whatever happens", () => {
  const { slot, system, clock } = setUp();
  slot.start();
  clock.advance(1 * seconds);
  const written = system.records.length;
  slot.release();
  system.exit(1);
  clock.advance(3600 * seconds);
  expect(system.starts()).toBe(1);
  expect(system.records).toHaveLength(written);
});

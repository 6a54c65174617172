// The rules of one process, with a fake clock and a fake system.
import { describe, expect, test } from "vitest";
import { seconds, setUp } from "./testing/slot.ts";

describe("A start", () => {
  test("is RUNNING after its start seconds, not before", () => {
    const { slot, clock } = setUp({ startsecs: 5 });
    slot.start();
    clock.advance(5 * seconds - 1);
    expect(slot.status().state).toBe("STARTING");
    clock.advance(1);
    expect(slot.status()).toMatchObject({ state: "RUNNING", pid: 101, restarts: 0 });
  });

  test("restarts its start seconds as long as the program is blocked, and is not between runs", () => {
    const { slot, system, clock } = setUp({ startsecs: 5, maxJobs: 1 });
    slot.start();
    clock.advance(60 * seconds);
    system.exit(0);
    clock.advance(0);
    expect(slot.status()).toMatchObject({ state: "STARTING", isBetweenRuns: true });
    system.begins = false;
    clock.advance(60 * seconds);
    expect(slot.status()).toMatchObject({
      state: "STARTING",
      isBetweenRuns: false,
      reason: "The program has not begun yet: its folder, /, or its account doesn't respond.",
    });
    system.begins = true;
    clock.advance(5 * seconds);
    expect(slot.status()).toMatchObject({ state: "RUNNING", reason: null });
    // A program that ends before it has started was never up.
    system.begins = false;
    system.exit(0);
    clock.advance(12 * seconds);
    system.exit(126);
    expect(slot.status()).toMatchObject({ state: "BACKOFF", isBetweenRuns: false });
  });

  test("that exits after its start seconds was RUNNING, even if a busy service notices the exit first", () => {
    const { slot, system, clock } = setUp({ startsecs: 5, startretries: 0 });
    slot.start();
    // The timer of the start seconds is due as well, but has not fired yet.
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

  test("without start seconds restarts at most once a second", () => {
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

  test("that reaches RUNNING resets its earlier failures", () => {
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

  test("that cannot even be attempted counts as failed", () => {
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

  test("is not made while its record cannot be written, because the process could not be found again", async () => {
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

  test.for(["FATAL", "BACKOFF", "EXITED", "STOPPED"])("restarts from %s", (from) => {
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

  test("does not affect STARTING or RUNNING", () => {
    const { slot, system, clock } = setUp();
    slot.start();
    slot.start();
    clock.advance(1 * seconds);
    slot.start();
    expect(system.starts()).toBe(1);
  });
});

describe("The reason of a failure", () => {
  const hint =
    "Quarterdeck did not send it. Laravel does when a job exceeds its timeout; the kernel does when memory runs out, and says so in its log (journalctl -k).";
  const giveUp = (ends: (number | string)[], startsecs = 1) => {
    const { slot, system, clock } = setUp({ startretries: ends.length - 1, startsecs });
    slot.start();
    ends.forEach((end, index) => {
      if (typeof end === "number") system.exit(end);
      else system.exit(null, end);
      clock.advance(index + 1 === ends.length ? 0 : (index + 1) * seconds);
    });
    expect(slot.status().state).toBe("FATAL");
    return slot.status().reason;
  };

  test.for([
    [[1], 1, "Exited with code 1 within 1 second."],
    [[1, 1, 1, 1], 1, "Exited with code 1 within 1 second, 4 times in a row."],
    [[0, 0], 5, "Exited with code 0 within 5 seconds, 2 times in a row."],
    [["SIGSEGV", "SIGSEGV"], 1, "Killed by SIGSEGV within 1 second, 2 times in a row."],
    [["SIGKILL"], 5, `Killed by SIGKILL within 5 seconds. ${hint}`],
    [["SIGKILL", "SIGKILL"], 1, `Killed by SIGKILL within 1 second, 2 times in a row. ${hint}`],
    [
      [1, "SIGKILL"],
      1,
      `Killed by SIGKILL within 1 second. ${hint} Gave up after 2 failed starts.`,
    ],
    [[255, 1], 1, "Exited with code 1 within 1 second. Gave up after 2 failed starts."],
  ] as const)("%o", ([ends, startsecs, reason]) => {
    expect(giveUp([...ends], startsecs)).toBe(reason);
  });

  test("names the signal that ended a running process, if the supervisor had not sent it", () => {
    const { slot, system, clock } = setUp();
    slot.start();
    clock.advance(1 * seconds);
    system.exit(null, "SIGKILL");
    expect(slot.status().reason).toBe(`Killed by SIGKILL. ${hint}`);
    expect(system.killings).toEqual([]);
    expect(system.deaths).toEqual(["Killed by SIGKILL."]);
  });

  test("is kept during retries, and cleared once it runs", () => {
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

test("A released slot ignores all further events", () => {
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

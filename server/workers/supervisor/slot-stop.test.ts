import { describe, expect, test } from "vitest";
import type { Program } from "../processes/process-manager.ts";
import { isDone, seconds, setUp } from "./testing/slot.ts";

describe("A stop", () => {
  const run = (given: Partial<Program> = {}) => {
    const all = setUp(given);
    all.slot.start();
    all.clock.advance(1 * seconds);
    return all;
  };

  test("signals once, waits its time, then kills until no process is left", async () => {
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

  test("is complete only when the children of the leader have ended as well", async () => {
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

  test("of a process that fails to start completes with it", async () => {
    const { slot, system, clock } = setUp();
    slot.start();
    const done = slot.stop();
    system.endGroup();
    system.failLaunch();
    expect(await isDone(done)).toBe(true);
    clock.advance(3600 * seconds);
    expect(slot.status()).toMatchObject({ state: "STOPPED", reason: null });
    expect(system.starts()).toBe(1);
  });

  test("takes precedence over a failing start", async () => {
    const { slot, system, clock } = setUp();
    system.launches = "fail";
    slot.start();
    expect(await isDone(slot.stop())).toBe(true);
    system.failLaunch();
    clock.advance(3600 * seconds);
    expect(system.history).toEqual(["STARTING", "STOPPED"]);
  });

  test("called by an observer of a change takes effect at that very step", () => {
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

  test("followed by a start starts it again once it is down", () => {
    const { slot, system, clock } = run();
    void slot.stop();
    slot.start();
    expect(system.starts()).toBe(1);
    system.exit(0);
    clock.advance(1 * seconds);
    expect(system.history.slice(2)).toEqual(["STOPPING", "STOPPED", "STARTING", "RUNNING"]);
  });

  test("takes precedence over a restart", async () => {
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

// Tests the signals of a stop and a restart, their deadline, and the reason of a kill.
import { describe, expect, test } from "vitest";
import type { Program } from "../processes/process-manager.ts";
import { isDone, seconds, setUp } from "./testing/slot.ts";

const run = (given: Partial<Program> = {}) => {
  const all = setUp(given);
  all.slot.start();
  all.clock.advance(1 * seconds);
  return all;
};

describe("A restart", () => {
  test("signals only the leader, and its group when the stop seconds are over", () => {
    const { slot, system, clock } = run({ stopwaitsecs: 7 });
    void slot.restart();
    clock.advance(7 * seconds - 1);
    expect(system.signals).toEqual(["leader SIGTERM"]);
    clock.advance(1);
    expect(system.signals).toEqual(["leader SIGTERM", "SIGKILL"]);
  });

  test("lets the leader's children end, too, before the next process starts", () => {
    const { slot, system, clock } = run({ stopwaitsecs: 7 });
    void slot.restart();
    system.exit(0, null, true);
    clock.advance(6 * seconds);
    expect(slot.status().state).toBe("STOPPING");
    expect(system.signals).toEqual(["leader SIGTERM"]);
    system.endGroup();
    clock.advance(100);
    expect(slot.status()).toMatchObject({ state: "STARTING", pid: 102, reason: null });
    expect(system.killings).toEqual([]);
  });

  test("with stopasgroup signals the whole group at once", () => {
    const { slot, system } = run({ stopasgroup: true });
    void slot.restart();
    expect(system.signals).toEqual(["SIGTERM"]);
  });

  test("does not affect processes that left the group", () => {
    const { slot, system, clock } = run({ stopwaitsecs: 7 });
    system.hasOthers = true;
    void slot.restart();
    system.exit(0);
    expect(slot.status().state).toBe("STARTING");
    clock.advance(60 * seconds);
    expect(system.signals).toEqual(["leader SIGTERM"]);
  });

  test("becomes a stop on request, within its remaining time", () => {
    const { slot, system, clock } = run({ stopwaitsecs: 7 });
    void slot.restart();
    clock.advance(3 * seconds);
    void slot.stop();
    expect(system.signals).toEqual(["leader SIGTERM", "SIGTERM"]);
    clock.advance(4 * seconds);
    expect(system.signals).toEqual(["leader SIGTERM", "SIGTERM", "SIGKILL"]);
    system.exit(null, "SIGKILL");
    expect(system.history.at(-1)).toBe("STOPPED");
    expect(system.starts()).toBe(1);
  });

  test("reports that its predecessor was killed, until the next one is up", () => {
    const { slot, system, clock } = run({ stopwaitsecs: 7 });
    void slot.restart();
    clock.advance(7 * seconds);
    const reason = "Killed: still running 7 seconds after SIGTERM.";
    expect(slot.status()).toMatchObject({ state: "STOPPING", reason });
    system.exit(null, "SIGKILL");
    expect(slot.status()).toMatchObject({ state: "STARTING", reason });
    clock.advance(1 * seconds);
    expect(slot.status()).toMatchObject({ state: "RUNNING", reason: null });
    expect(system.killings).toEqual([reason]);
  });

  test("affects only processes that were started before it", async () => {
    const program: Partial<Program> = { order: 1 };
    const { slot, system, clock, use } = setUp(program);
    slot.start();
    clock.advance(1 * seconds);
    use({ order: 2 });
    void slot.restart();
    expect(slot.status().state).toBe("STOPPING");
    system.exit(0);
    clock.advance(1 * seconds);
    expect(system.starts()).toBe(2);
    // The same order again, as after a kill of the service.
    expect(await isDone(slot.restart())).toBe(true);
    expect(slot.status()).toMatchObject({ state: "RUNNING", pid: 102 });
    expect(slot.isOlderThan(2)).toBe(false);
    expect(slot.isOlderThan(3)).toBe(true);
    expect(system.records.at(-1)).toMatchObject({ order: 2 });
  });
});

describe("A stop", () => {
  test("reports once that it had to kill, and the stopped process shows why", () => {
    const { slot, system, clock } = run({ stopwaitsecs: 1 });
    void slot.stop();
    clock.advance(5 * seconds);
    system.exit(null, "SIGKILL");
    const reason = "Killed: still running 1 second after SIGTERM.";
    expect(slot.status()).toMatchObject({ state: "STOPPED", reason });
    expect(system.killings).toEqual([reason]);
    slot.start();
    expect(slot.status().reason).toBe(null);
  });

  test("reports no kill that was requested, or that found no process", () => {
    const { slot, system, clock } = run({ stopsignal: "KILL" });
    void slot.stop();
    system.exit(null, "SIGKILL");
    clock.advance(3600 * seconds);
    expect(slot.status()).toMatchObject({ state: "STOPPED", reason: null });
    expect(system.killings).toEqual([]);
  });

  test("is complete only when no process has the slot's mark, in whatever group", async () => {
    const { slot, system, clock } = run({ stopwaitsecs: 7 });
    system.hasOthers = true;
    const done = slot.stop();
    expect(system.signals).toEqual(["SIGTERM", "others SIGTERM"]);
    system.exit(0);
    clock.advance(6 * seconds);
    expect(slot.status().state).toBe("STOPPING");
    expect(await isDone(done)).toBe(false);
    clock.advance(1 * seconds);
    expect(system.signals).toEqual(["SIGTERM", "others SIGTERM", "others SIGKILL"]);
    system.endOthers();
    expect(await isDone(done)).toBe(true);
    const reason = "Killed child processes still running after 7 seconds.";
    expect(slot.status()).toMatchObject({ state: "STOPPED", exitCode: 0, reason });
  });

  test.for(["BACKOFF", "EXITED", "FATAL"])(
    "in %s is not complete while a descendant of an earlier process runs",
    async (from) => {
      const { slot, system, clock } = setUp({ startretries: from === "FATAL" ? 0 : 3 });
      slot.start();
      if (from === "EXITED") clock.advance(1 * seconds);
      system.exit(1);
      if (from === "FATAL") clock.advance(0);
      system.hasOthers = true;
      const done = slot.stop();
      clock.advance(5 * seconds);
      expect(slot.status().state).toBe(from);
      // A start meanwhile waits, because the sweep would kill the new process as a leftover.
      slot.start();
      expect(system.starts()).toBe(1);
      const stopping = slot.stop();
      system.endOthers();
      expect(await isDone(Promise.all([done, stopping]).then(() => undefined))).toBe(true);
      expect(slot.status().state).toBe("STOPPED");
      expect(system.starts()).toBe(1);
    },
  );
});

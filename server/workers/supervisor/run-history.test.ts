// The history of a slot's runs, with a fake clock and a fake system.
import { expect, test } from "vitest";
import { createFakeClock } from "../../testing/fake-clock.ts";
import type { Program } from "../processes/process-manager.ts";
import type { LaunchEvents } from "./slot-ports.ts";
import type { RunRecord } from "./run-file.ts";
import { createSlot } from "./slot.ts";
import { programOf } from "./testing/supervisor.ts";

function setUp(given: Partial<Program> = {}) {
  const clock = createFakeClock(0);
  const noted: { events: LaunchEvents | null; record: RunRecord | null } = {
    events: null,
    record: null,
  };
  const system = { program: programOf(1, given), starts: 0, alive: true, ...noted };
  const end = () => {
    system.alive = false;
    queueMicrotask(() => system.events?.exited(0, null));
  };
  const slot = createSlot(1, () => system.program, {
    clock,
    boot: "boot",
    makeNonce: () => "nonce",
    save(record) {
      system.record = record;
      return null;
    },
    launch(_nonce, events) {
      Object.assign(system, { events, alive: true, starts: system.starts + 1 });
      return { pid: 100 + system.starts, startTime: "1" };
    },
    isAlive: () => system.alive,
    hasGroup: () => system.alive,
    signalLeader: end,
    signalGroup: end,
    sweep: () => ({ finish: (done) => done(), kill: () => undefined, cancel: () => undefined }),
    killing: () => undefined,
    wasKilled: () => undefined,
    restarting: () => undefined,
    changed: () => undefined,
  });
  return {
    slot,
    clock,
    system,
    exit(code: number | null) {
      system.alive = false;
      system.events?.exited(code, null);
    },
  };
}

const second = 1000;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("an outage lasts from an exit until the start seconds are over again", () => {
  const { slot, clock, exit } = setUp({ startsecs: 2 });
  slot.start();
  clock.advance(10 * second);
  exit(1);
  expect(slot.status().outages).toEqual([{ at: 10 * second, backAt: null }]);
  clock.advance(10 * second);
  expect(slot.status()).toMatchObject({
    state: "RUNNING",
    outages: [{ at: 10 * second, backAt: 12 * second }],
    upAt: 10 * second,
  });
});

test("each failed start ends one outage and begins the next, and a fatal state ends the last", () => {
  const { slot, clock, exit } = setUp({ startsecs: 2, startretries: 1 });
  slot.start();
  exit(1);
  clock.advance(1 * second);
  exit(1);
  clock.advance(0);
  expect(slot.status()).toMatchObject({
    state: "FATAL",
    outages: [
      { at: 0, backAt: 1 * second },
      { at: 1 * second, backAt: 1 * second },
    ],
  });
});

test("an exit by max_jobs is no outage, and the process is between its runs until it is up again", () => {
  const { slot, clock, exit } = setUp({ maxJobs: 6 });
  slot.start();
  clock.advance(3 * second);
  exit(0);
  expect(slot.status()).toMatchObject({ isBetweenRuns: true, outages: [] });
  clock.advance(0);
  expect(slot.status()).toMatchObject({ state: "STARTING", isBetweenRuns: true });
  clock.advance(1 * second);
  expect(slot.status()).toMatchObject({ state: "RUNNING", isBetweenRuns: false });
  exit(0);
  clock.advance(0);
  // The next process fails to start, whatever its exit code.
  exit(0);
  expect(slot.status()).toMatchObject({ state: "BACKOFF", isBetweenRuns: false });
  expect(slot.status().outages).toHaveLength(1);
});

test("the cause of the newest outage is kept while the process is up again", () => {
  const { slot, clock, exit } = setUp({ maxJobs: 6 });
  slot.start();
  expect(slot.status().lastEnd).toBeNull();
  exit(3);
  expect(slot.status().lastEnd).toBe("Exited with code 3 within 1 second.");
  clock.advance(3 * second);
  exit(1);
  clock.advance(3 * second);
  expect(slot.status()).toMatchObject({ state: "RUNNING", lastEnd: "Exited with code 1." });
  exit(0);
  expect(slot.status()).toMatchObject({ isBetweenRuns: true, lastEnd: "Exited with code 1." });
});

test("a stop is no outage, and ends one", async () => {
  const { slot, clock, exit } = setUp();
  slot.start();
  clock.advance(3 * second);
  exit(1);
  clock.advance(3 * second);
  void slot.stop();
  await turn();
  expect(slot.status()).toMatchObject({ state: "STOPPED", upAt: null });
  expect(slot.status().outages).toEqual([{ at: 3 * second, backAt: 4 * second }]);
});

test("outages and deployment are stored on disk, and an unobserved exit adds one", () => {
  const { slot, clock, exit, system } = setUp({ deployment: 7 });
  slot.start();
  clock.advance(3 * second);
  exit(1);
  clock.advance(3 * second);
  expect(system.record).toMatchObject({ deployment: 7, outages: [{ at: 3000, backAt: 4000 }] });

  const next = setUp({ deployment: 8 });
  next.clock.advance(60 * second);
  next.slot.resume(system.record, { kind: "nothing" }, true);
  expect(next.slot.status()).toMatchObject({ deployment: 8, state: "STARTING" });
  expect(next.slot.status().outages).toEqual([
    { at: 3000, backAt: 4000 },
    { at: 60_000, backAt: null },
  ]);
});

test("a process is replaced once for each deployment that requires it, and not while it should be down", async () => {
  const { slot, clock, system } = setUp();
  const deploy = async (deployment: number, isRequired = true) => {
    Object.assign(system.program, { deployment });
    if (isRequired) Object.assign(system.program, { requiredDeployment: deployment });
    void slot.deploy();
    await turn();
    clock.advance(2 * second);
  };
  slot.start();
  clock.advance(2 * second);
  await deploy(1);
  await deploy(1);
  expect(system.starts).toBe(2);
  await deploy(2, false);
  expect(slot.status().deployment).toBe(1);
  await deploy(3);
  expect(system.starts).toBe(3);
  expect(slot.status()).toMatchObject({ deployment: 3, state: "RUNNING" });
  void slot.stop();
  await turn();
  await deploy(4);
  expect(system.starts).toBe(3);
  expect(slot.status().state).toBe("STOPPED");
});

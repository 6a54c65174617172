// Tests a supervisord that hangs, is stopped or is not installed.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder, programOf, soon } from "../supervisor/testing/supervisor.ts";
import { sendSignal } from "../../testing/signals.ts";
import { createNames } from "./program-file.ts";
import { isUp, makeManager, pidsOf, type TestManager } from "./testing/manager.ts";
import { startSupervisord } from "./testing/supervisord.ts";

const whyAway = (manager: TestManager) => {
  const away = manager.away(1);
  return away === null || away === "unseen" ? away : away.reason;
};

test("reports supervisord as unavailable with the reason while it hangs or is stopped, and the previous state afterwards", async (context) => {
  const own = await startSupervisord();
  context.onTestFinished(() => own.close());
  const manager = makeManager(context, own);
  await manager.resume([]);
  manager.start(programOf(1, {}));
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  const pids = pidsOf(manager, 1);
  sendSignal(own.pid(), "SIGSTOP");
  await expect.poll(() => whyAway(manager), soon).toContain("did not answer within 5 s");
  // An order is pending.
  const restarted = manager.restart(programOf(1, { order: 9 }));
  const before = manager.asked().length;
  sendSignal(own.pid(), "SIGCONT");
  await restarted;
  // Unchanged files are not read again: each worker has one, and all states would wait for that.
  const file = join(own.programs, createNames(manager.instance).fileOf(1, ".conf"));
  const later = manager.asked().slice(before);
  expect(later.filter((argv) => argv.includes(file))).toEqual([]);
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  expect(manager.away(1)).toBeNull();
  expect(pidsOf(manager, 1)).not.toEqual(pids);
  await own.stop();
  await expect.poll(() => whyAway(manager), soon).toContain("supervisord is not running");
  // Retried continuously, but reported only once.
  const asked = manager.asked().length;
  await expect.poll(() => manager.asked().length, soon).toBeGreaterThan(asked + 3);
  expect(manager.problems).toEqual([
    expect.stringMatching(/^supervisord cannot be asked.*did not answer within 5 s/),
    expect.stringMatching(/^supervisord cannot be asked.*supervisord is not running/),
  ]);
  const last = pidsOf(manager, 1);
  expect(isUp(manager, 1)()).toBe(true);
  await own.start();
  await expect.poll(() => manager.away(1), soon).toBeNull();
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  expect(pidsOf(manager, 1)).not.toEqual(last);
});

test("retries an unavailable supervisord soon, and one at rest as soon as its server is known to be back", async (context) => {
  const own = await startSupervisord();
  context.onTestFinished(() => own.close());
  // Longer than the test may take.
  const manager = makeManager(context, own, { restMs: 3_600_000 });
  await manager.resume([]);
  manager.start(programOf(1, {}));
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  const name = createNames(manager.instance).groupOf(1, 1);
  await own.call("stopProcess", name, true);
  expect(isUp(manager, 1)()).toBe(true);
  manager.wake();
  await expect.poll(() => manager.state(1), soon).toBe("STOPPED");
  await own.stop();
  manager.wake();
  await expect.poll(() => whyAway(manager), soon).toContain("supervisord is not running");
  await own.start();
  await expect.poll(() => manager.away(1), soon).toBeNull();
});

test("reports the commands that install a missing supervisord", async (context) => {
  const config = join(makeFolder(context), "supervisord.conf");
  const manager = makeManager(context, { config });
  await manager.resume([]);
  await expect.poll(() => whyAway(manager), soon).toContain(`${config} is not on this server`);
  rmSync(config, { force: true });
});

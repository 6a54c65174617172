// Tests that supervisord kills a process at the end of its stop seconds, between two polls.
import { existsSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, type TestContext } from "vitest";
import { systemClock } from "../../clock.ts";
import { createLocalHost } from "../../hosts/local.ts";
import { isRunning, makeFolder, programOf, shell, soon } from "../supervisor/testing/supervisor.ts";
import { isUp, makeManager, pidsOf } from "./testing/manager.ts";
import { startSupervisord, type TestSupervisord } from "./testing/supervisord.ts";

let supervisord: TestSupervisord;
beforeAll(async () => {
  supervisord = await startSupervisord();
});
afterAll(() => supervisord?.close());

/** Starts a worker whose manager polls only when woken, with a clock of the test. */
async function startOne(
  context: TestContext,
  stopwaitsecs: number,
  script: (file: string) => string,
) {
  let nowMs = Date.now();
  const folder = makeFolder(context);
  const file = join(folder, "file");
  /** Delay of supervisord's response to the stop. */
  let answerMs = 0;
  /** Called before supervisord gets the stop. */
  let beforeStop: (() => Promise<void>) | null = null;
  const slow = createServer((client) => {
    const to = connect(supervisord.socket);
    let isStop = false;
    client.on("data", (data) => {
      isStop ||= data.includes("supervisor.stopProcess");
      if (!isStop || beforeStop === null) return void to.write(data);
      const before = beforeStop();
      beforeStop = null;
      void before.then(() => to.write(data));
    });
    to.on("data", (data) => {
      if (isStop) nowMs += answerMs;
      isStop = false;
      client.write(data);
    });
    client.on("close", () => to.destroy());
    to.on("close", () => client.destroy());
  });
  const path = join(folder, "socket");
  slow.listen(path);
  await once(slow, "listening");
  context.onTestFinished(() => void slow.close());
  const { PATH = "" } = process.env;
  const { run } = createLocalHost({ PATH, HOME: "/" });
  const hourMs = 3_600_000;
  const manager = makeManager(context, supervisord, {
    clock: { ...systemClock, now: () => nowMs },
    machine: {
      run,
      openSocket: async () => path,
      whyClosed: async () => null,
      environment: { PATH },
    },
    busyMs: hourMs,
    restMs: hourMs,
  });
  await manager.resume([]);
  manager.start(programOf(1, { args: shell(script(file)), stopwaitsecs }));
  const looks = (what: () => boolean) => () => {
    manager.wake();
    return what();
  };
  await expect.poll(looks(isUp(manager, 1)), soon).toBe(true);
  await expect.poll(() => existsSync(file), soon).toBe(true);
  const [pid = 0] = pidsOf(manager, 1);

  /**
   * Restarts the worker, whose process exits by itself while the order to kill it is pending.
   * @returns once its process is up again; whether the first process is still running
   */
  async function restartLate(): Promise<boolean> {
    const restarted = manager.restart(
      programOf(1, { args: shell(script(file)), stopwaitsecs, order: 1 }),
    );
    const { promise, resolve } = Promise.withResolvers<void>();
    beforeStop = async () => {
      rmSync(file);
      // Created again by the process that supervisord starts in its place.
      await expect.poll(() => existsSync(file), soon).toBe(true);
      resolve();
    };
    const timer = setInterval(manager.wake, 50);
    await expect.poll(() => existsSync(`${file}-asked`), soon).toBe(true);
    nowMs += stopwaitsecs * 1000;
    await promise;
    await restarted;
    await expect
      .poll(isUp(manager, 1), soon)
      .toBe(true)
      .finally(() => clearInterval(timer));
    return isRunning(pid);
  }

  /** @returns the reasons of reported kills */
  async function stop(given: { answerMs: number; unseenMs: number }) {
    ({ answerMs } = given);
    const stopping = manager.stop(1);
    await expect.poll(() => manager.state(1), soon).toBe("STOPPING");
    rmSync(file);
    await expect.poll(() => isRunning(pid), soon).toBe(false);
    nowMs += given.unseenMs;
    await expect
      .poll(
        looks(() => manager.state(1) === "STOPPED"),
        soon,
      )
      .toBe(true);
    await stopping;
    return manager.kills;
  }

  return { stop, restartLate };
}

test("reports a process that supervisord killed, however late it responded", async (context) => {
  const { stop } = await startOne(context, 1, (file) => `trap '' TERM; touch ${file}; sleep 300`);
  const reason = "1/1: Killed: still running 1 second after SIGTERM.";
  expect(await stop({ answerMs: 700, unseenMs: 300 })).toEqual([reason]);
});

test("does not report a process that exited by itself as killed, however late that is noticed", async (context) => {
  const { stop } = await startOne(context, 30, (file) => {
    const ends = `trap 'while [ -e ${file} ]; do sleep 0.05; done; exit 3' TERM`;
    return `${ends}; touch ${file}; while :; do sleep 0.1; done`;
  });
  expect(await stop({ answerMs: 0, unseenMs: 40_000 })).toEqual([]);
});

test("a process that exited just before it would have been killed is up again, although its successor was stopped", async (context) => {
  const { restartLate } = await startOne(context, 30, (file) => {
    const ends = `trap 'touch ${file}-asked; while [ -e ${file} ]; do sleep 0.05; done; exit 0' TERM`;
    return `${ends}; touch ${file}; while :; do sleep 0.1; done`;
  });
  expect(await restartLate()).toBe(false);
});

import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { systemClock } from "../../clock.ts";
import {
  isRunning,
  makeFolder,
  makeSupervisor,
  marked,
  programOf,
  shell,
  soon,
} from "./testing/supervisor.ts";
import { sendSignal } from "../../testing/signals.ts";

/** Reads the number that a script has written into a file. */
const numberIn = (path: string): number => Number(readFileSync(path, "utf8").trim() || Number.NaN);

describe.concurrent("A stop", () => {
  test("signals the whole group, and STOPPED waits until a child that ignores the signal is killed", async ({
    expect,
    onTestFinished,
  }) => {
    const supervisor = makeSupervisor({ onTestFinished });
    const path = join(supervisor.folder, "child");
    const script = `sh -c 'trap "" TERM; echo $$ > ${path}; while :; do sleep 0.1; done' & wait`;
    supervisor.start(programOf(1, { args: shell(script), stopwaitsecs: 2 }));
    await expect.poll(() => supervisor.state(1), soon).toBe("RUNNING");
    await expect.poll(() => numberIn(path), soon).toBeGreaterThan(1);
    const [leader] = supervisor.processes(1);
    const child = numberIn(path);

    const startedMs = Date.now();
    const stopping = supervisor.stop(1);
    await expect.poll(() => isRunning(leader?.pid ?? 0), soon).toBe(false);
    expect(isRunning(child)).toBe(true);
    expect(supervisor.state(1)).toBe("STOPPING");
    await stopping;
    expect(isRunning(child)).toBe(false);
    expect(Date.now() - startedMs).toBeGreaterThanOrEqual(1990);
    expect(supervisor.history(1)).toEqual(["STARTING", "RUNNING", "STOPPING", "STOPPED"]);
  });

  test("kills a paused process, which cannot handle its signal", async ({
    expect,
    onTestFinished,
  }) => {
    const supervisor = makeSupervisor({ onTestFinished });
    supervisor.start(programOf(1, { startsecs: 0, stopwaitsecs: 1 }));
    const pid = supervisor.processes(1)[0]?.pid ?? 0;
    sendSignal(pid, "SIGSTOP");
    await supervisor.stop(1);
    expect(isRunning(pid)).toBe(false);
    expect(supervisor.processes(1)).toMatchObject([{ state: "STOPPED", exitCode: null }]);
  });

  test("sends the worker's own signal", async ({ expect, onTestFinished }) => {
    const supervisor = makeSupervisor({ onTestFinished });
    const args = shell(`trap "exit 7" USR2; while :; do sleep 0.1; done`);
    supervisor.start(programOf(1, { args, stopsignal: "USR2" }));
    await expect.poll(() => supervisor.state(1), soon).toBe("RUNNING");
    await supervisor.stop(1);
    expect(supervisor.processes(1)).toMatchObject([{ state: "STOPPED", pid: null, exitCode: 7 }]);
  });
});

describe.concurrent("A removal", () => {
  test("ends a grandchild in its own session, and deletes the files", async ({
    expect,
    onTestFinished,
  }) => {
    const supervisor = makeSupervisor({ onTestFinished });
    const path = join(supervisor.folder, "grandchild");
    const args = shell(`setsid sh -c 'echo $$ > ${path}; sleep 300' & sleep 300`);
    supervisor.start(programOf(1, { args }));
    await expect.poll(() => numberIn(path), soon).toBeGreaterThan(1);
    await supervisor.remove(1);
    expect(isRunning(numberIn(path))).toBe(false);
    expect(marked(supervisor.instance)).toEqual([]);
    expect(supervisor.processes(1)).toEqual([]);
    expect(statSync(join(supervisor.folder, "workers/1"), { throwIfNoEntry: false })).toBe(
      undefined,
    );
  });

  test("kills a grandchild that ignores TERM", async ({ expect, onTestFinished }) => {
    const supervisor = makeSupervisor({ onTestFinished });
    const path = join(supervisor.folder, "grandchild");
    const args = shell(
      `setsid sh -c 'trap "" TERM; echo $$ > ${path}; while :; do sleep 1; done' & sleep 300`,
    );
    supervisor.start(programOf(1, { args }));
    await expect.poll(() => numberIn(path), soon).toBeGreaterThan(1);
    await supervisor.remove(1);
    expect(marked(supervisor.instance)).toEqual([]);
  });
});

describe.concurrent("Workers", () => {
  test("are restarted one process at a time, and a stop meanwhile takes precedence", async ({
    expect,
    onTestFinished,
  }) => {
    const supervisor = makeSupervisor({ onTestFinished });
    const program = programOf(1, { processes: 2, startsecs: 0 });
    supervisor.start(program);
    const before = new Set(supervisor.processes(1).map(({ pid }) => pid));
    await supervisor.restart(program);
    const after = supervisor.processes(1);
    expect(after.map(({ state }) => state)).toEqual(["RUNNING", "RUNNING"]);
    expect(after.filter(({ pid }) => before.has(pid))).toEqual([]);

    await Promise.all([supervisor.restart(program), supervisor.stop(1)]);
    expect(supervisor.processes(1).map(({ state }) => state)).toEqual(["STOPPED", "STOPPED"]);
    expect(marked(supervisor.instance)).toEqual([]);
  });

  test("run as many processes as their start specifies", async ({ expect, onTestFinished }) => {
    const supervisor = makeSupervisor({ onTestFinished });
    supervisor.start(programOf(1, { processes: 3, startsecs: 0 }));
    const [first] = supervisor.processes(1);
    supervisor.start(programOf(1, { processes: 1, startsecs: 0 }));
    await expect.poll(() => supervisor.processes(1).length, soon).toBe(1);
    expect(supervisor.processes(1)).toEqual([first]);
    expect(marked(supervisor.instance)).toHaveLength(1);
  });

  test("all stop together, and nothing starts after that", async ({ expect, onTestFinished }) => {
    const supervisor = makeSupervisor({ onTestFinished });
    for (const id of [1, 2, 3]) supervisor.start(programOf(id, { processes: 2 }));
    supervisor.start(programOf(4, { args: ["false"], startretries: 100 }));
    await expect.poll(() => supervisor.state(4), soon).toBe("BACKOFF");
    await supervisor.stopAll();
    expect(marked(supervisor.instance)).toEqual([]);
    const states = [1, 2, 3, 4].flatMap((id) => supervisor.processes(id));
    expect(new Set(states.map(({ state }) => state))).toEqual(new Set(["STOPPED"]));
  });

  test("after all have stopped nothing is retried, not even a record that could not be written", async ({
    expect,
    onTestFinished,
  }) => {
    const waits = new Set<object>();
    const after: typeof systemClock.after = (delayMs, run) => {
      const wait = {};
      waits.add(wait);
      const cancel = systemClock.after(delayMs, () => {
        waits.delete(wait);
        run();
      });
      return () => {
        waits.delete(wait);
        cancel();
      };
    };
    const folder = makeFolder({ onTestFinished });
    mkdirSync(join(folder, "workers"));
    writeFileSync(join(folder, "workers/1"), "in the way");
    const clock = { ...systemClock, after };
    const supervisor = makeSupervisor({ onTestFinished }, { folder, clock });
    supervisor.start(programOf(1, {}));
    await expect.poll(() => supervisor.state(1), soon).toBe("BACKOFF");
    await supervisor.stopAll();
    expect(supervisor.state(1)).toBe("STOPPED");
    expect(waits.size).toBe(0);
  });

  test("that are unknown can be stopped, removed and read without an error", async ({
    expect,
    onTestFinished,
  }) => {
    const supervisor = makeSupervisor({ onTestFinished });
    await supervisor.stop(99);
    await supervisor.remove(99);
    expect(supervisor.processes(99)).toEqual([]);
    const nothing = { text: "", start: 0, end: 0, rotated: false };
    expect(await supervisor.readLog(99, { lines: 5 })).toEqual(nothing);
  });
});

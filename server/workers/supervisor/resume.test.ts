// Tests that a restarted service finds its processes, whether the previous one was stopped or killed.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readRunFile } from "./run-file.ts";
import { supportsAdoption } from "./process-table.ts";
import {
  isRunning,
  makeSupervisor,
  marked,
  programOf,
  shell,
  soon,
  type TestSupervisor,
} from "./testing/supervisor.ts";
import { sendSignal } from "../../testing/signals.ts";

/** Releases the supervisor, and creates the one of the service's next start. */
function comeBack(context: Parameters<typeof makeSupervisor>[0], supervisor: TestSupervisor) {
  supervisor.release();
  return makeSupervisor(context, supervisor);
}

const runPath = (supervisor: TestSupervisor, id: number, number = 1) =>
  join(supervisor.folder, `workers/${id}/slot-${number}.json`);

const steady = programOf(1, { startsecs: 0, processes: 2 });
const pidsOf = (supervisor: TestSupervisor, id = 1) =>
  supervisor.processes(id).map(({ pid }) => pid);

describe.skipIf(!supportsAdoption)("After a restart of the service", () => {
  test("its processes are the same, with their history", async (context) => {
    const first = makeSupervisor(context);
    first.start(steady);
    sendSignal(first.processes(1)[0]?.pid, "SIGKILL");
    await expect
      .poll(() => first.processes(1)[0], soon)
      .toMatchObject({ state: "RUNNING", restarts: 1 });
    const before = first.processes(1);

    const second = comeBack(context, first);
    await second.resume([{ program: steady, up: true }]);
    // Deadlines start again, so that earlier uptime does not count. Reasons are not stored.
    expect(second.processes(1)).toEqual(
      before.map((process) => ({ ...process, upAt: null, lastEnd: null })),
    );
    expect(marked(second.instance)).toHaveLength(2);

    // They are supervised as before.
    sendSignal(before[1]?.pid, "SIGKILL");
    await expect
      .poll(() => second.processes(1)[1], soon)
      .toMatchObject({ state: "RUNNING", restarts: 1, exitCode: null });
    await second.stop(1);
    expect(marked(second.instance)).toEqual([]);
  });

  test("a process that died meanwhile starts again", async (context) => {
    const first = makeSupervisor(context);
    first.start(steady);
    const [one, two] = pidsOf(first);
    first.release();
    sendSignal(one, "SIGKILL");
    await expect.poll(() => isRunning(one ?? 0), soon).toBe(false);

    const second = makeSupervisor(context, first);
    await second.resume([{ program: steady, up: true }]);
    expect(second.processes(1)).toMatchObject([{ state: "RUNNING", restarts: 1 }, { pid: two }]);
    expect(marked(second.instance)).toHaveLength(2);
  });

  test("processes that should be down are stopped, including those of unknown workers", async (context) => {
    const first = makeSupervisor(context);
    const gone = programOf(2, { args: shell("setsid sleep 300 & sleep 300"), startsecs: 0 });
    const fewer = { ...programOf(3, { startsecs: 0 }), processes: 1 };
    first.start(steady);
    first.start(gone);
    first.start({ ...fewer, processes: 3 });
    await expect.poll(() => marked(first.instance).length, soon).toBeGreaterThanOrEqual(8);

    const second = comeBack(context, first);
    await second.resume([
      { program: steady, up: false },
      { program: fewer, up: true },
    ]);
    await expect.poll(() => marked(second.instance).map(({ slot }) => slot), soon).toEqual(["3/1"]);
    await expect
      .poll(() => second.processes(1).map(({ state }) => state), soon)
      .toEqual(["STOPPED", "STOPPED"]);
    await expect.poll(() => second.processes(3), soon).toHaveLength(1);
  });

  test("a process whose start was not recorded is found by its mark", async (context) => {
    const first = makeSupervisor(context);
    first.start(steady);
    const before = pidsOf(first);
    first.release();
    for (const number of [1, 2]) {
      const path = runPath(first, 1, number);
      const record = readRunFile(path);
      expect(record?.pid).toBe(before[number - 1]);
      const asked = { ...record, state: "STARTING", pid: null, startTime: null };
      writeFileSync(path, JSON.stringify(asked));
    }
    const second = makeSupervisor(context, first);
    await second.resume([{ program: steady, up: true }]);
    expect(pidsOf(second)).toEqual(before);
    expect(marked(second.instance)).toHaveLength(2);
  });

  test("a child with its own session is not mistaken for its dead parent", async (context) => {
    const program = programOf(1, {
      args: shell("setsid sleep 400 & exec sleep 300"),
      startsecs: 0,
    });
    const first = makeSupervisor(context);
    first.start(program);
    await expect.poll(() => marked(first.instance).length, soon).toBe(2);
    const leader = first.processes(1)[0]?.pid ?? 0;
    const child = marked(first.instance).find(({ pid }) => pid !== leader);
    first.release();
    sendSignal(leader, "SIGKILL");
    await expect.poll(() => isRunning(leader), soon).toBe(false);

    const second = makeSupervisor(context, first);
    await second.resume([{ program, up: true }]);
    expect(second.processes(1)).toMatchObject([{ state: "RUNNING", restarts: 1 }]);
    expect([leader, child?.pid]).not.toContain(second.processes(1)[0]?.pid);
    expect(isRunning(child?.pid ?? 0)).toBe(true);
  });

  test("without any record the oldest process of a slot is kept, and others are ended", async (context) => {
    const program = programOf(1, { startsecs: 0 });
    const first = makeSupervisor(context);
    first.start(program);
    const [oldest] = pidsOf(first);
    first.release();
    rmSync(runPath(first, 1));
    // The kernel counts in hundredths of a second; the second process must be the younger one.
    const uptime = () => Number.parseFloat(readFileSync("/proc/uptime", "utf8"));
    const started = uptime();
    await expect.poll(uptime, soon).toBeGreaterThan(started + 0.02);
    const other = makeSupervisor(context, first);
    other.start(program);
    other.release();
    rmSync(runPath(first, 1));
    expect(marked(first.instance)).toHaveLength(2);

    const second = makeSupervisor(context, first);
    await second.resume([{ program, up: true }]);
    expect(pidsOf(second)).toEqual([oldest]);
    await expect.poll(() => marked(second.instance).map(({ pid }) => pid), soon).toEqual([oldest]);
  });

  test("a stop that was in progress is completed", async (context) => {
    const args = shell(`trap "" TERM; echo deaf; while :; do sleep 0.1; done`);
    const program = programOf(1, { args, stopwaitsecs: 5, startsecs: 0 });
    const first = makeSupervisor(context);
    first.start(program);
    await expect
      .poll(async () => (await first.readLog(1, { lines: 1 })).text, soon)
      .toContain("deaf");
    void first.stop(1);
    expect(first.state(1)).toBe("STOPPING");

    const second = comeBack(context, first);
    await second.resume([{ program, up: false }]);
    expect(second.state(1)).toBe("STOPPING");
    await expect.poll(() => second.state(1), soon).toBe("STOPPED");
    expect(marked(second.instance)).toEqual([]);
  });

  test("a worker whose number of processes was reduced has no more than that", async (context) => {
    const first = makeSupervisor(context);
    first.start({ ...steady, processes: 3 });
    await first.stop(1);
    const second = comeBack(context, first);
    await second.resume([{ program: steady, up: false }]);
    expect(second.processes(1).map(({ number }) => number)).toEqual([1, 2]);
  });

  test("processes of another installation on the machine are not affected", async (context) => {
    const other = makeSupervisor(context);
    other.start(steady);
    const one = makeSupervisor(context);
    await one.resume([]);
    await one.remove(1);
    expect(marked(other.instance)).toHaveLength(2);
    expect(other.processes(1).map(({ state }) => state)).toEqual(["RUNNING", "RUNNING"]);
  });

  test("a damaged record is rewritten", async (context) => {
    const first = makeSupervisor(context);
    first.start(steady);
    const before = pidsOf(first);
    first.release();
    writeFileSync(runPath(first, 1), "{");
    const second = makeSupervisor(context, first);
    await second.resume([{ program: steady, up: true }]);
    expect(pidsOf(second)).toEqual(before);
    expect(JSON.parse(readFileSync(runPath(first, 1), "utf8"))).toMatchObject({ pid: before[0] });
  });
});

// Tests the effect of a stop and a restart on real processes: the current job, its children, and escaped descendants.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "vitest";
import type { Program } from "../processes/process-manager.ts";
import { supportsAdoption } from "./process-table.ts";
import { isRunning, makeSupervisor, marked, programOf, shell, soon } from "./testing/supervisor.ts";
import { sendSignal } from "../../testing/signals.ts";

/** Reads the number that a script has written into a file of its folder. */
const numberIn = (path: string): number => {
  try {
    return Number(readFileSync(path, "utf8").trim() || Number.NaN);
  } catch {
    return Number.NaN;
  }
};

/** A program that waits for its child at SIGTERM, like a job. The child ends when the file `go` exists. */
const jobWithChild = (folder: string) =>
  shell(
    `trap 'echo asked; wait $child; echo job ended; exit 0' TERM
     sh -c 'echo $$ > ${folder}/child; until [ -e ${folder}/go ]; do sleep 0.05; done; echo child ended' & child=$!
     while :; do wait $child; sleep 0.05; done`,
  );

async function setUp(
  { expect, onTestFinished }: TestContext,
  make: (folder: string) => Partial<Program>,
) {
  const supervisor = makeSupervisor({ onTestFinished });
  const { folder } = supervisor;
  const program = programOf(1, { startsecs: 0, stopwaitsecs: 60, ...make(folder) });
  const log = async () => (await supervisor.readLog(1, { lines: 100 })).text;
  supervisor.start(program);
  const childPath = join(folder, "child");
  await expect.poll(() => numberIn(childPath), soon).toBeGreaterThan(1);
  return {
    supervisor,
    program,
    log,
    child: numberIn(childPath),
    pid: supervisor.processes(1)[0]?.pid ?? 0,
    go: () => writeFileSync(join(folder, "go"), ""),
  };
}

describe.concurrent("A restart", () => {
  test("lets the current job end, with the child that it waits for", async (context) => {
    const { expect } = context;
    const { supervisor, program, log, child, pid, go } = await setUp(context, (folder) => ({
      args: jobWithChild(folder),
    }));
    const restarting = supervisor.restart(program);
    await expect.poll(log, soon).toContain("asked\n");
    expect(isRunning(child)).toBe(true);
    expect(supervisor.state(1)).toBe("STOPPING");
    go();
    await restarting;
    expect(await log()).toContain("asked\nchild ended\njob ended\n");
    expect(supervisor.processes(1)[0]?.pid).not.toBe(pid);
    expect(supervisor.kills).toEqual([]);
  });

  test("with stopasgroup signals the child as well", async (context) => {
    const { expect } = context;
    const { supervisor, program, log } = await setUp(context, (folder) => ({
      args: jobWithChild(folder),
      stopasgroup: true,
    }));
    await supervisor.restart(program);
    expect(await log()).toContain("job ended\n");
    expect(await log()).not.toContain("child ended");
  });

  test("that has to kill reports it in the log, and in the reason of the next process", async (context) => {
    const { expect } = context;
    const { supervisor, program, log, child, pid } = await setUp(context, (folder) => ({
      args: shell(`trap '' TERM; echo $$ > ${folder}/child; printf 'half a line'; sleep 300; :`),
      stopwaitsecs: 1,
      startsecs: 30,
    }));
    await supervisor.restart(program);
    expect(isRunning(child)).toBe(false);
    const reason = "Killed: still running 1 second after SIGTERM.";
    expect(supervisor.kills).toEqual([`1/1: ${reason}`]);
    expect(supervisor.processes(1)).toMatchObject([{ state: "STARTING", reason }]);
    expect(await log()).toMatch(
      new RegExp(`^half a line\n\\[quarterdeck\\] \\S+Z Process 1 \\(pid ${pid}\\): ${reason}\n`),
    );
  });
});

test("A process that someone else kills reports it in its log, and in the reason during the retry", async (context) => {
  const { expect } = context;
  const { supervisor, log, pid } = await setUp(context, (folder) => ({
    args: shell(`echo $$ > ${folder}/child; printf 'half a line'; sleep 300; :`),
  }));
  await expect.poll(log, soon).toBe("half a line");
  sendSignal(pid, "SIGKILL");
  await expect
    .poll(() => supervisor.processes(1)[0]?.reason, soon)
    .toMatch(/^Killed by SIGKILL\. Quarterdeck did not send it\. /);
  expect(await log()).toMatch(
    new RegExp(
      `^half a line\n\\[quarterdeck\\] \\S+Z Process 1 \\(pid ${pid}\\): Killed by SIGKILL\\.\n`,
    ),
  );
  expect(supervisor.kills).toEqual([]);
  await expect.poll(() => supervisor.state(1), soon).toBe("RUNNING");
  expect(supervisor.processes(1)[0]?.lastEnd).toMatch(/^Killed by SIGKILL\. /);
});

const inItsOwnSession = (folder: string, trap = "") =>
  shell(`setsid sh -c '${trap} echo $$ > ${folder}/child; sleep 300; :' & exec sleep 300`);

const where = { concurrent: true, skip: !supportsAdoption };

describe("STOPPED means that", where, () => {
  test("no descendant of the process is running, in whatever session", async (context) => {
    const { expect } = context;
    const { supervisor, child } = await setUp(context, (folder) => ({
      args: inItsOwnSession(folder),
    }));
    await supervisor.stop(1);
    expect(isRunning(child)).toBe(false);
    expect(marked(supervisor.instance)).toEqual([]);
    expect(supervisor.history(1)).toEqual(["STARTING", "RUNNING", "STOPPING", "STOPPED"]);
    expect(supervisor.kills).toEqual([]);
  });

  test("a child in its own session that ignores the signal was killed, which is reported", async (context) => {
    const { expect } = context;
    const { supervisor, child, log } = await setUp(context, (folder) => ({
      args: inItsOwnSession(folder, `trap "" TERM;`),
      stopwaitsecs: 1,
    }));
    await supervisor.stop(1);
    expect(isRunning(child)).toBe(false);
    expect(marked(supervisor.instance)).toEqual([]);
    const reason = "Killed child processes still running after 1 second.";
    expect(supervisor.kills).toEqual([`1/1: ${reason}`]);
    expect(supervisor.processes(1)).toMatchObject([{ state: "STOPPED", reason }]);
    expect(await log()).toContain(` Process 1: ${reason}\n`);
  });

  test("leftovers of a process that died earlier have ended, too", async (context) => {
    const { expect } = context;
    const { supervisor, child, pid } = await setUp(context, (folder) => ({
      args: shell(`sh -c 'echo $$ > ${folder}/child; exec sleep 300' & exec sleep 300`),
    }));
    sendSignal(pid, "SIGKILL");
    await expect
      .poll(() => supervisor.processes(1)[0], soon)
      .toMatchObject({ state: "RUNNING", restarts: 1 });
    expect(isRunning(child)).toBe(true);
    await supervisor.stop(1);
    expect(isRunning(child)).toBe(false);
    expect(marked(supervisor.instance)).toEqual([]);
  });

  test("a process that forks continuously while it is stopped has ended", async (context) => {
    const { expect } = context;
    // Each generation starts the next in its own session, and ends.
    const { supervisor } = await setUp(context, (folder) => {
      const script = join(folder, "hop");
      writeFileSync(script, `echo $$ > ${folder}/child\nsleep 0.05\nsetsid sh ${script} &\n`);
      return { args: shell(`setsid sh ${script} & exec sleep 300`), stopwaitsecs: 2 };
    });
    await supervisor.stop(1);
    expect(marked(supervisor.instance)).toEqual([]);
  });
});

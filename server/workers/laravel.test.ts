// Runs Laravel's own queue worker with our command line under our supervisor.
import { join } from "node:path";
import { describe, test, type TestContext } from "vitest";
import { defaultArtisan, workerArguments } from "../../contract/workers/command.ts";
import { inLongForm } from "../testing/long-form.ts";
import {
  isRunning,
  makeSupervisor,
  marked,
  programOf,
  soon,
} from "./supervisor/testing/supervisor.ts";
import { laravelMissing, makeLaravelSite } from "./testing/laravel-site.ts";

const settings = {
  connection: "database",
  queue: "default",
  sleep: 1,
  tries: 1,
  timeout: 60,
  memory: 128,
  max_jobs: 0,
  max_time: 0,
  force: false,
};

/** Creates a site with an empty queue, and a supervisor for its workers of one process each. */
async function makeSite({ expect, onTestFinished }: TestContext) {
  const supervisor = makeSupervisor({ onTestFinished });
  const site = await makeLaravelSite(join(supervisor.folder, "site"));
  const program = (id: number, changes: Partial<typeof settings> = {}) => {
    const args = workerArguments(defaultArtisan, { ...settings, ...changes });
    return programOf(id, { args, directory: site.folder, stopwaitsecs: 65 });
  };
  const pidOf = (id: number) => supervisor.processes(id)[0]?.pid ?? null;
  return {
    supervisor,
    site,
    pidOf,
    program,
    start: (id: number, changes: Partial<typeof settings> = {}) =>
      supervisor.start(program(id, changes)),
    /** Waits for a process that is not one of `earlier`. */
    nextPid: async (id: number, ...earlier: (number | null)[]) => {
      await expect.poll(() => pidOf(id), soon).not.toSatisfy(isOneOf([null, ...earlier]));
      return pidOf(id);
    },
    untilDone: (names: string[]) => expect.poll(() => site.done(), soon).toEqual(names),
  };
}

const isOneOf =
  <Item>(items: readonly Item[]) =>
  (item: Item) =>
    items.includes(item);

test("Laravel is installed, so that no test of this file is skipped", ({ expect, skip }) => {
  if (process.env["CI"] !== "true") skip(laravelMissing !== null, laravelMissing ?? undefined);
  expect(laravelMissing).toBeNull();
});

const where = { concurrent: true, skip: laravelMissing !== null };

describe("A worker on a Laravel site", where, () => {
  test("does the queued jobs in order, each once, and logs them", async (context) => {
    const { expect } = context;
    const { supervisor, site, start, nextPid, untilDone } = await makeSite(context);
    const early = await site.dispatch(2, 0);
    start(1);
    const pid = await nextPid(1);
    await untilDone(early);
    const late = await site.dispatch(2, 0.1);
    await untilDone([...early, ...late]);
    expect(await site.begun()).toEqual([...early, ...late]);
    expect(await site.doneBy()).toEqual([pid, pid, pid, pid]);
    await expect
      .poll(async () => (await supervisor.readLog(1, { lines: 100 })).text, soon)
      .toMatch(/^(?:.* Processing: .*\n.* Processed: .*\n){4}$/);
  });

  test("exits after max_jobs, restarts as a new process, and continues", async (context) => {
    const { expect } = context;
    const { supervisor, site, start, nextPid, untilDone } = await makeSite(context);
    // Two jobs take longer than startsecs, so that the exit is not a failed start.
    const names = await site.dispatch(4, 0.6);
    start(1, { max_jobs: 2 });
    const first = await nextPid(1);
    const second = await nextPid(1, first);
    await untilDone(names);
    expect(await site.doneBy()).toEqual([first, first, second, second]);
    await nextPid(1, first, second);
    expect(supervisor.processes(1)).toMatchObject([{ restarts: 2, exitCode: 0 }]);
    expect(supervisor.history(1)).not.toContain("BACKOFF");
  });

  test("obeys queue:restart: a new process continues", async (context) => {
    const { expect } = context;
    const { site, start, nextPid, untilDone } = await makeSite(context);
    start(1);
    const first = await nextPid(1);
    const before = await site.dispatch(1, 0);
    await untilDone(before);
    await site.artisan("queue:restart");
    const second = await nextPid(1, first);
    const after = await site.dispatch(1, 0);
    await untilDone([...before, ...after]);
    expect(await site.doneBy()).toEqual([first, second]);
  });

  inLongForm(() => {
    test("does no jobs during the site's maintenance mode, unless forced", async (context) => {
      const { expect } = context;
      const { site, start, pidOf, nextPid, untilDone } = await makeSite(context);
      await site.artisan("down");
      const names = await site.dispatch(1, 0);
      start(1);
      const patient = await nextPid(1);
      // A worker checks for a restart after each check of its queue, so one that restarts has seen the job and left it. The command is
      // repeated, because a worker that is still booting misses it.
      await expect
        .poll(() => site.artisan("queue:restart").then(() => pidOf(1)), { ...soon, interval: 500 })
        .not.toBe(patient);
      expect(await site.begun()).toEqual([]);

      start(2, { force: true });
      const forced = await nextPid(2);
      await untilDone(names);
      expect(await site.doneBy()).toEqual([forced]);
    });
  });

  test("finishes the running job on a restart, with the child that does its work", async (context) => {
    const { expect } = context;
    const { supervisor, site, start, program, nextPid, untilDone } = await makeSite(context);
    start(1);
    const pid = await nextPid(1);
    const names = await site.dispatch(1, 2, "--child");
    await expect.poll(() => site.begun(), soon).toEqual(names);
    await supervisor.restart(program(1));
    expect(await site.doneInChild()).toEqual(names);
    await untilDone(names);
    expect(await site.doneBy()).toEqual([pid]);
    expect(supervisor.kills).toEqual([]);
    await nextPid(1, pid);
  });

  inLongForm(() => {
    test("leaves no child in a separate session behind when stopped", async (context) => {
      const { expect } = context;
      const { supervisor, site, nextPid } = await makeSite(context);
      // Three more workers in sessions of their own, like a daemon that a command starts.
      const args = workerArguments(defaultArtisan, settings).join(" ");
      const script = `for i in 1 2 3; do setsid ${args} & done; exec ${args}`;
      supervisor.start(programOf(1, { args: ["sh", "-c", script], directory: site.folder }));
      await nextPid(1);
      await expect.poll(() => marked(supervisor.instance).length, soon).toBe(4);
      const names = await site.dispatch(4, 0.2);
      // Four workers share the jobs, so the jobs finish in any order.
      await expect.poll(async () => (await site.done()).toSorted(), soon).toEqual(names.toSorted());
      await supervisor.stop(1);
      expect(marked(supervisor.instance)).toEqual([]);
      expect(supervisor.kills).toEqual([]);
    });
  });

  test("finishes the running job when stopped, starts no other, and does not restart", async (context) => {
    const { expect } = context;
    const { supervisor, site, start, nextPid, untilDone } = await makeSite(context);
    const names = await site.dispatch(2, 2);
    const running = names.slice(0, 1);
    start(1);
    const pid = await nextPid(1);
    await expect.poll(() => site.begun(), soon).toEqual(running);
    await supervisor.stop(1);
    expect(await site.done()).toEqual(running);
    expect(await site.begun()).toEqual(running);
    expect(isRunning(pid ?? 0)).toBe(false);
    expect(supervisor.processes(1)).toMatchObject([{ state: "STOPPED", pid: null, exitCode: 0 }]);

    // Another worker runs the remaining job, during which the first one would have time to come back.
    start(2);
    const other = await nextPid(2);
    await untilDone(names);
    expect(await site.doneBy()).toEqual([pid, other]);
    expect(supervisor.history(1).slice(-2)).toEqual(["STOPPING", "STOPPED"]);
  });
});

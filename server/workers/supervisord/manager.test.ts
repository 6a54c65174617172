// Tests the manager with Debian's supervisord.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  isRunning,
  makeFolder,
  makeInstance,
  programOf,
  shell,
  soon,
} from "../supervisor/testing/supervisor.ts";
import { sendSignal } from "../../testing/signals.ts";
import { createNames } from "./program-file.ts";
import { isUp, makeManager, pidsOf } from "./testing/manager.ts";
import { startSupervisord, type TestSupervisord } from "./testing/supervisord.ts";

let supervisord: TestSupervisord;
beforeAll(async () => {
  supervisord = await startSupervisord();
});
afterAll(() => supervisord?.close());

type Manager = ReturnType<typeof makeManager>;

/** Returns the groups, files and logs of an installation in supervisord. */
async function left({ instance }: Pick<Manager, "instance">) {
  const { prefix } = createNames(instance);
  const all = await supervisord.call("getAllProcessInfo");
  const logs = join(supervisord.folder, "log", prefix);
  return {
    groups: JSON.stringify(all).match(new RegExp(`"group":"${prefix}[^"]*`, "g")) ?? [],
    files: readdirSync(supervisord.programs).filter((name) => name.startsWith(prefix)),
    logs: existsSync(logs) ? readdirSync(logs) : null,
  };
}
/** Nothing is left, not even the folder of the logs. */
const nothing = { groups: [], files: [], logs: null };

test("a program starts, stops, starts again, and leaves nothing when it is removed", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const program = programOf(7, { processes: 2 });
  manager.start(program);
  await expect.poll(isUp(manager, 7, 2), soon).toBe(true);
  const first = pidsOf(manager, 7);
  await manager.stop(7);
  expect(first.some(isRunning)).toBe(false);
  expect((await left(manager)).groups).toEqual([]);
  manager.start(program);
  await expect.poll(isUp(manager, 7, 2), soon).toBe(true);
  const second = pidsOf(manager, 7);
  await manager.remove(7);
  expect(second.some(isRunning)).toBe(false);
  expect(await left(manager)).toEqual(nothing);
  expect(manager.known()).toEqual([]);
});

test("records of one worker that cannot be read keep no worker from being resumed", async (context) => {
  const manager = makeManager(context, supervisord);
  const [damaged, empty, whole] = [programOf(1, {}), programOf(2, {}), programOf(3, {})];
  await manager.resume([
    { program: damaged, up: true, records: '{"1":{"pid"' },
    { program: empty, up: true, records: "" },
    { program: whole, up: true, records: "{}" },
  ]);
  for (const { id } of [damaged, empty, whole])
    await expect.poll(isUp(manager, id), soon).toBe(true);
});

test("removes the folder of the logs with the last worker, and not before", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const { fileOf, logOf } = createNames(manager.instance);
  for (const id of [1, 2]) {
    manager.start(programOf(id, {}));
    await expect.poll(isUp(manager, id), soon).toBe(true);
  }
  // A deleted log does not affect supervisord.
  rmSync(logOf(join(supervisord.folder, "log"), 2, 1));
  await manager.remove(1);
  expect(await left(manager)).toMatchObject({
    groups: [expect.stringContaining("-2-1")],
    logs: [],
  });
  // Left by a connection that was cut while a file was being written.
  writeFileSync(join(supervisord.programs, `${fileOf(2, ".conf")}.new`), "");
  await manager.remove(2);
  expect(await left(manager)).toEqual(nothing);
});

test("a change replaces one process after the other, and does not affect unchanged ones", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const one = programOf(1, { processes: 2, args: ["sleep", "301"], settings: 1, order: 1 });
  manager.start(one);
  await expect.poll(isUp(manager, 1, 2), soon).toBe(true);
  const before = pidsOf(manager, 1);
  const more = { ...one, processes: 3, order: 2 };
  await manager.change(more, one);
  await expect.poll(isUp(manager, 1, 3), soon).toBe(true);
  expect(pidsOf(manager, 1)).toEqual(expect.arrayContaining(before));
  const other = { ...more, args: ["sleep", "302"], settings: 3, order: 3 };
  await manager.change(other, more);
  expect(isUp(manager, 1, 3)()).toBe(true);
  const after = pidsOf(manager, 1);
  expect(after.filter((pid) => before.includes(pid))).toEqual([]);
  for (const pid of after)
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).toBe(["sleep", "302", ""].join("\0"));
  const fewer = { ...other, processes: 1, order: 4 };
  await manager.change(fewer, other);
  expect(pidsOf(manager, 1)).toEqual([after[0]]);
  await expect.poll(async () => (await left(manager)).groups.length, soon).toBe(1);
  await manager.remove(1);
});

test("a change that is ordered before supervisord has responded for the first time ends", async (context) => {
  const manager = makeManager(context, supervisord);
  const one = programOf(7, { settings: 1, order: 1 });
  const two = { ...one, args: ["sleep", "301"], settings: 2, order: 2 };
  await manager.resume([{ program: one, up: true }]);
  const changed = manager.change(two, one);
  await expect.poll(isUp(manager, 7), soon).toBe(true);
  await changed;
  expect(manager.processes(7)).toMatchObject([{ settings: 2 }]);
  await manager.remove(7);
});

test("a process that finishes its job first is no longer up while another one is replaced already", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const lock = join(makeFolder(context), "lock");
  // The first one to be signaled exits at once, the other one has a job.
  const script = `trap 'mkdir ${lock} 2>/dev/null || sleep 2; exit 0' TERM; while :; do sleep 0.1; done`;
  const program = programOf(3, { processes: 2, args: shell(script), order: 1 });
  manager.start(program);
  await expect.poll(isUp(manager, 3, 2), soon).toBe(true);
  const before = pidsOf(manager, 3);
  let isMixed = false;
  const isReplaced = () => {
    const up = manager.processes(3).filter(({ state }) => state === "RUNNING");
    const old = up.filter(({ pid }) => before.includes(pid ?? 0));
    isMixed ||= old.length > 0 && old.length < up.length;
    return up.length === 2 && old.length === 0;
  };
  const restarted = manager.restart({ ...program, order: 2 });
  await expect.poll(isReplaced, { timeout: soon.timeout, interval: 20 }).toBe(true);
  await restarted;
  expect(isMixed).toBe(false);
  await manager.remove(3);
});

test("the next service completes or reverts what a service killed at any step left", async (context) => {
  const given = { instance: makeInstance(), folder: makeFolder(context) };
  const program = programOf(1, { processes: 2 });
  const first = makeManager(context, supervisord, given);
  await first.resume([]);
  first.start(program);
  await expect.poll(isUp(first, 1, 2), soon).toBe(true);
  const pids = pidsOf(first, 1);
  first.release();

  const second = makeManager(context, supervisord, given);
  await second.resume([{ program, up: true }]);
  expect(second.away(1)).toBe("unseen");
  expect(pidsOf(second, 1)).toEqual(pids);
  await expect.poll(() => second.away(1), soon).toBeNull();
  expect(pidsOf(second, 1)).toEqual(pids);
  expect(second.processes(1).map(({ restarts }) => restarts)).toEqual([0, 0]);
  second.release();

  // A group without its file, a file without its group, and an unknown worker.
  const names = createNames(given.instance);
  const file = join(supervisord.programs, names.fileOf(1, ".conf"));
  const text = readFileSync(file, "utf8");
  writeFileSync(
    join(supervisord.programs, names.fileOf(9, ".conf")),
    text.replaceAll(`${names.prefix}-1-`, `${names.prefix}-9-`),
  );
  await supervisord.call("reloadConfig");
  await supervisord.call("addProcessGroup", names.groupOf(9, 1));
  await supervisord.call("stopProcess", names.groupOf(1, 2), true);
  await supervisord.call("removeProcessGroup", names.groupOf(1, 2));
  const third = makeManager(context, supervisord, given);
  await third.resume([{ program, up: true }]);
  await expect.poll(isUp(third, 1, 2), soon).toBe(true);
  expect(pidsOf(third, 1)[0]).toBe(pids[0]);
  await expect
    .poll(async () => {
      const { groups, files } = await left(third);
      return { groups: groups.length, files };
    }, soon)
    .toEqual({ groups: 2, files: [names.fileOf(1, ".conf")] });
  third.release();

  const fourth = makeManager(context, supervisord, given);
  await fourth.resume([]);
  await expect
    .poll(async () => {
      const { groups, files } = await left(fourth);
      return { groups, files };
    }, soon)
    .toEqual({ groups: [], files: [] });
  // The worker was stopped before this service was started: only its log is left.
  void fourth.know(program);
  await fourth.remove(1);
  expect(await left(fourth)).toEqual(nothing);
});

test("a restart reaches a process that supervisord started before the killed service had noticed it", async (context) => {
  const given = { instance: makeInstance(), folder: makeFolder(context) };
  const program = programOf(1, { processes: 2, order: 1 });
  const first = makeManager(context, supervisord, given);
  await first.resume([]);
  first.start(program);
  await expect.poll(isUp(first, 1, 2), soon).toBe(true);
  const before = pidsOf(first, 1);
  const path = join(given.folder, "workers/1/slots.json");
  const read = () => JSON.parse(readFileSync(path, "utf8"));
  await expect.poll(() => read()["1"].state, soon).toBe("RUNNING");
  first.release();

  // The killed service had noticed the first process's previous exit, and nothing of the other process.
  const { 1: seen } = read();
  writeFileSync(path, JSON.stringify({ 1: { ...seen, pid: null, start: 1, state: "EXITED" } }));
  const second = makeManager(context, supervisord, given);
  await second.resume([{ program: { ...program, order: 2 }, up: true, restartOrder: 2 }]);
  await expect
    .poll(
      () => isUp(second, 1, 2)() && pidsOf(second, 1).every((pid) => !before.includes(pid)),
      soon,
    )
    .toBe(true);
  expect(before.some(isRunning)).toBe(false);
  await second.remove(1);
});

test("reports what is done on the server by hand", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  manager.start(programOf(1, {}));
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  const names = createNames(manager.instance);
  const reason = () => manager.processes(1)[0]?.reason ?? null;
  await supervisord.call("stopProcess", names.groupOf(1, 1), true);
  await expect.poll(reason, soon).toContain("Stopped on the server");
  await supervisord.call("startProcess", names.groupOf(1, 1), false);
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  expect(reason()).toBeNull();
  await supervisord.call("stopProcess", names.groupOf(1, 1), true);
  await supervisord.call("removeProcessGroup", names.groupOf(1, 1));
  await expect.poll(reason, soon).toContain("Removed from supervisord");
  manager.start(programOf(1, {}));
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  await manager.remove(1);
});

test("a restart discards what supervisord has read from a file that was changed by hand", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const program = programOf(1, { order: 1 });
  manager.start(program);
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  const commandLine = () => {
    const [pid] = pidsOf(manager, 1);
    return isUp(manager, 1)() ? readFileSync(`/proc/${pid}/cmdline`, "utf8") : null;
  };
  const { fileOf, groupOf } = createNames(manager.instance);
  const file = join(supervisord.programs, fileOf(1, ".conf"));
  writeFileSync(file, readFileSync(file, "utf8").replace("sleep 300", "sleep 999"));
  // Like `supervisorctl update`.
  await supervisord.call("reloadConfig");
  await supervisord.call("stopProcess", groupOf(1, 1));
  await supervisord.call("removeProcessGroup", groupOf(1, 1));
  await supervisord.call("addProcessGroup", groupOf(1, 1));
  await expect.poll(commandLine, soon).toBe("sleep\x00999\0");
  await expect.poll(() => manager.notice(1), soon).toContain("was changed on the server");
  await manager.restart({ ...program, order: 2 });
  await expect.poll(commandLine, soon).toBe("sleep\x00300\0");
  await expect.poll(() => manager.notice(1), soon).toBeNull();
  await manager.remove(1);
});

test("reports a file that is changed or deleted on the server, and the next order writes it again", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const program = programOf(1, { order: 1 });
  manager.start(program);
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  const file = join(supervisord.programs, createNames(manager.instance).fileOf(1, ".conf"));
  const text = readFileSync(file, "utf8");
  expect(manager.notice(1)).toBeNull();
  writeFileSync(file, text.replace("startsecs=1", "startsecs=7"));
  await expect.poll(() => manager.notice(1), soon).toContain("was changed on the server");
  await manager.restart({ ...program, order: 2 });
  await expect.poll(() => manager.notice(1), soon).toBeNull();
  // Its program is added to supervisord again, together with the file.
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  expect(readFileSync(file, "utf8")).toBe(text);
  rmSync(file);
  await expect.poll(() => manager.notice(1), soon).toContain("was deleted on the server");
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  await manager.remove(1);
  expect(await left(manager)).toEqual(nothing);
});

test("a start writes a program file again that was just deleted", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const program = programOf(1, { order: 1 });
  manager.start(program);
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  const [pid] = pidsOf(manager, 1);
  const { fileOf, groupOf } = createNames(manager.instance);
  await supervisord.call("stopProcess", groupOf(1, 1), true);
  await supervisord.call("removeProcessGroup", groupOf(1, 1));
  await expect
    .poll(() => manager.processes(1)[0]?.reason, soon)
    .toContain("Removed from supervisord");
  rmSync(join(supervisord.programs, fileOf(1, ".conf")));
  manager.start({ ...program, order: 2 });
  await expect.poll(() => isUp(manager, 1)() && pidsOf(manager, 1)[0] !== pid, soon).toBe(true);
  await manager.remove(1);
  expect(await left(manager)).toEqual(nothing);
});

test("a failing start is given up with its exit code, and a missing program with its name", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const reason = (id: number) => manager.processes(id)[0]?.reason;
  manager.start(programOf(1, { args: shell("exit 3"), startsecs: 3, startretries: 1 }));
  manager.start(programOf(2, { args: ["no-such-program"], startretries: 0 }));
  await expect.poll(() => [manager.state(1), manager.state(2)], soon).toEqual(["FATAL", "FATAL"]);
  expect(reason(1)).toBe("Exited with code 3 within 3 seconds, 2 times in a row.");
  expect(reason(2)).toContain("no-such-program");
  await manager.remove(1);
  await manager.remove(2);
  expect(await left(manager)).toEqual(nothing);
});

test("a restart of a program whose start failed gives it all of its attempts again", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const starts = join(makeFolder(context), "starts");
  const made = () => (existsSync(starts) ? readFileSync(starts, "utf8").length : 0);
  // Fails, except for the second start, which is still under way when the restart comes.
  const script = `printf x >>${starts}; [ "$(cat ${starts})" = xx ] && exec sleep 300; exit 3`;
  const program = programOf(1, { startsecs: 60, startretries: 1, order: 1, args: shell(script) });
  manager.start(program);
  await expect.poll(() => made() === 2 && manager.state(1), soon).toBe("STARTING");
  await manager.restart({ ...program, order: 2 });
  await expect.poll(() => manager.state(1), soon).toBe("FATAL");
  expect(manager.processes(1)[0]?.reason).toContain("2 times in a row");
  expect(made()).toBe(4);
  await manager.remove(1);
});

test("stops a program that did not start, whether supervisord has it or not", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  manager.start(programOf(1, { args: shell("exit 3"), startretries: 0 }));
  manager.start(programOf(2, { args: [] }));
  const states = () => [manager.state(1), manager.state(2)];
  await expect.poll(states, soon).toEqual(["FATAL", "FATAL"]);
  await Promise.all([manager.stop(1), manager.stop(2)]);
  await expect.poll(states, soon).toEqual(["STOPPED", "STOPPED"]);
  expect(manager.processes(1)[0]?.reason).toBe(null);
  expect((await left(manager)).groups).toEqual([]);
  await manager.remove(1);
  await manager.remove(2);
});

test("reports a missing folder as the reason where the log before it is not UTF-8, and looks after the others meanwhile", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const [root, latin] = [makeFolder(context), join(makeFolder(context), "latin")];
  writeFileSync(latin, Buffer.from("Fähre\n", "latin1"));
  manager.start(programOf(1, { root, startretries: 0, args: shell(`cat ${latin}; sleep 300`) }));
  manager.start(programOf(2, {}));
  await expect.poll(() => isUp(manager, 1)() && isUp(manager, 2)(), soon).toBe(true);
  rmSync(root, { recursive: true });
  sendSignal(pidsOf(manager, 1)[0], "SIGTERM");
  await expect.poll(() => manager.state(1), soon).toBe("FATAL");
  expect(manager.processes(1)[0]?.reason).toBe(
    `Couldn't start: the folder ${root} does not exist.`,
  );
  expect(manager.away(2)).toBe(null);
  await manager.stop(2);
  await manager.remove(1);
  await manager.remove(2);
});

test("reports a missing folder, or one behind a broken link, as the reason of a failed start", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const [gone, loop] = [makeFolder(context), makeFolder(context)];
  manager.start(programOf(1, { root: gone, startretries: 0 }));
  manager.start(programOf(2, { root: loop, startsecs: 0 }));
  await expect.poll(() => isUp(manager, 1)() && isUp(manager, 2)(), soon).toBe(true);
  rmSync(gone, { recursive: true });
  rmSync(loop, { recursive: true });
  symlinkSync(loop, loop);
  for (const id of [1, 2]) sendSignal(pidsOf(manager, id)[0], "SIGTERM");
  await expect.poll(() => manager.state(1), soon).toBe("FATAL");
  expect(manager.processes(1)[0]?.reason).toBe(
    `Couldn't start: the folder ${gone} does not exist.`,
  );
  expect(manager.processes(1)[0]?.exitCode).toBe(null);
  await expect
    .poll(() => manager.processes(2)[0]?.lastEnd, soon)
    .toBe(`Couldn't start: the folder ${loop} is a link that leads nowhere.`);
  await manager.remove(1);
  await manager.remove(2);
});

test("takes no earlier exit for one that supervisord's loglevel leaves out of its log", async (context) => {
  const terse = await startSupervisord();
  try {
    await terse.stop();
    const text = readFileSync(terse.config, "utf8");
    writeFileSync(terse.config, text.replace("[supervisord]", "$&\nloglevel=warn"));
    await terse.start();
    const manager = makeManager(context, terse);
    await manager.resume([]);
    const crashed = join(makeFolder(context), "crashed");
    // Its ends are more than a second apart, because supervisord gives whole seconds.
    const script = `[ -e ${crashed} ] && sleep 1.2 && exit; touch ${crashed}; exec sleep 300`;
    manager.start(programOf(1, { startsecs: 0, maxTime: 1, args: shell(script) }));
    await expect.poll(() => isUp(manager, 1)() && existsSync(crashed), soon).toBe(true);
    sendSignal(pidsOf(manager, 1)[0], "SIGKILL");
    await expect.poll(() => manager.processes(1)[0]?.restarts, soon).toBeGreaterThan(1);
    const [crash] = manager.processes(1);
    expect(crash?.outages).toHaveLength(1);
    expect(crash?.lastEnd).toContain("SIGKILL");
  } finally {
    await terse.close();
  }
});

test("reports a program that is gone without the exit code of the run before", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const script = join(makeFolder(context), "artisan");
  writeFileSync(script, '#!/bin/sh\nsleep 0.1\nrm "$0"\nexit 3\n', { mode: 0o755 });
  manager.start(programOf(1, { startsecs: 0, startretries: 0, args: [script] }));
  await expect.poll(() => manager.state(1), soon).toBe("FATAL");
  expect(manager.processes(1)).toMatchObject([
    { reason: expect.stringMatching(/^Couldn't start: .*artisan/), exitCode: null },
  ]);
  await manager.remove(1);
});

test("reports a process that someone else kills with possible causes", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  manager.start(programOf(1, { startsecs: 5, startretries: 0 }));
  manager.start(programOf(2, {}));
  await expect.poll(() => manager.state(1), soon).toBe("STARTING");
  await expect.poll(isUp(manager, 2), soon).toBe(true);
  const ofKill = /^Killed by SIGKILL[^.]*\. Quarterdeck did not send it\. /;
  sendSignal(pidsOf(manager, 1)[0], "SIGKILL");
  await expect.poll(() => manager.state(1), soon).toBe("FATAL");
  expect(manager.processes(1)[0]?.reason).toMatch(ofKill);
  const [pid] = pidsOf(manager, 2);
  sendSignal(pid, "SIGKILL");
  await expect.poll(() => isUp(manager, 2)() && pidsOf(manager, 2)[0] !== pid, soon).toBe(true);
  expect(manager.processes(2)[0]?.lastEnd).toMatch(ofKill);
  expect(manager.kills).toEqual([]);
  await manager.remove(1);
  await manager.remove(2);
});

test("reports a program file that cannot be deleted, and retries", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  manager.start(programOf(1, {}));
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  const file = join(supervisord.programs, createNames(manager.instance).fileOf(1, ".conf"));
  rmSync(file);
  mkdirSync(file);
  context.onTestFinished(() => rmSync(file, { recursive: true, force: true }));
  const removed = manager.remove(1);
  await expect
    .poll(() => manager.notice(1), soon)
    .toMatch(/^Couldn't delete a file: .*\.conf.* Quarterdeck tries again\.$/);
  rmdirSync(file);
  await removed;
  expect(await left(manager)).toEqual(nothing);
});

test("reports records that cannot be written once, however often that is retried", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  manager.start(programOf(1, {}));
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  const folder = join(manager.folder, "workers/1");
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "in the way");
  for (let round = 0; round < 2; round += 1) {
    const [pid] = pidsOf(manager, 1);
    sendSignal(pid, "SIGKILL");
    await expect.poll(() => isUp(manager, 1)() && pidsOf(manager, 1)[0] !== pid, soon).toBe(true);
  }
  const told = manager.problems.filter((problem) => problem.includes("records of a worker"));
  expect(told).toHaveLength(1);
  await manager.remove(1);
});

test("removes a program file that supervisord cannot read, and names it as the reason", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const account = { uid: 1, gid: 1, name: "no-such-account", home: "/" };
  manager.start(programOf(1, { account }));
  await expect.poll(() => manager.processes(1)[0]?.reason, soon).toContain("no-such-account");
  expect((await left(manager)).files).toEqual([]);
  // Others are read as before.
  manager.start(programOf(2, {}));
  await expect.poll(isUp(manager, 2), soon).toBe(true);
  await manager.remove(1);
  await manager.remove(2);
});

test("a restart lets the current job end, and kills one that does not end", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const folder = makeFolder(context);
  const script = 'trap "sleep 1; echo done >> ended; exit 0" TERM; while :; do sleep 0.1; done';
  manager.start(programOf(1, { args: shell(script), root: folder, order: 1 }));
  const stubborn = programOf(2, {
    args: shell('trap "" TERM; sleep 303 & echo $! >> children; while :; do sleep 0.1; done'),
    root: folder,
    stopwaitsecs: 1,
    order: 1,
  });
  manager.start(stubborn);
  await expect.poll(() => isUp(manager, 1)() && isUp(manager, 2)(), soon).toBe(true);
  const [child] = readFileSync(join(folder, "children"), "utf8").split("\n");
  const before = [...pidsOf(manager, 1), ...pidsOf(manager, 2), Number(child)];
  expect(before.every(isRunning)).toBe(true);
  await Promise.all([
    manager.restart(programOf(1, { args: shell(script), root: folder, order: 2 })),
    manager.restart({ ...stubborn, order: 2 }),
  ]);
  await expect.poll(() => isUp(manager, 1)() && isUp(manager, 2)(), soon).toBe(true);
  expect(before.some(isRunning)).toBe(false);
  expect(readFileSync(join(folder, "ended"), "utf8")).toBe("done\n");
  expect(manager.kills).toEqual(["2/1: Killed: still running 1 second after SIGTERM."]);
  await manager.remove(1);
  await manager.remove(2);
});

test("the log can be followed by its offsets, over a restart of the service and all processes", async (context) => {
  const given = { instance: makeInstance(), folder: makeFolder(context) };
  const manager = makeManager(context, supervisord, given);
  await manager.resume([]);
  const folder = makeFolder(context);
  const script =
    "echo first of $$; while :; do if [ -e more ]; then echo second of $$; exec sleep 300; fi; sleep 0.1; done";
  const program = programOf(1, { args: shell(script), root: folder, processes: 2 });
  manager.start(program);
  await expect.poll(isUp(manager, 1, 2), soon).toBe(true);
  const lines = (text: string) =>
    text
      .split("\n")
      .filter((line) => line !== "")
      .sort();
  const all = await manager.readLog(1, { lines: 100 });
  const pids = pidsOf(manager, 1);
  expect(lines(all.text)).toEqual(pids.map((pid) => `first of ${pid}`).sort());
  writeFileSync(join(folder, "more"), "");
  manager.release();
  const next = makeManager(context, supervisord, given);
  await next.resume([{ program, up: true }]);
  let text = "";
  let offset = all.end;
  await expect
    .poll(async () => {
      const part = await next.readLog(1, { offset });
      text += part.text;
      offset = part.end;
      return lines(text);
    }, soon)
    .toEqual(pids.map((pid) => `second of ${pid}`).sort());
  await next.remove(1);
});

test("a last line without a line break is read once its process has ended", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const folder = makeFolder(context);
  // Like the output of PHP's `die`.
  const args = shell("printf 'No connection'; [ -e end ] || exec sleep 302; exit 3");
  manager.start(programOf(1, { args, root: folder, startretries: 0 }));
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  // Its next output may belong to the same line.
  expect((await manager.readLog(1, { offset: 0 })).text).toBe("");
  writeFileSync(join(folder, "end"), "");
  sendSignal(pidsOf(manager, 1)[0], "SIGKILL");
  await expect.poll(() => manager.state(1), soon).toBe("FATAL");
  const { text, end } = await manager.readLog(1, { lines: 5 });
  expect(text).toBe("No connection".repeat(2));
  expect(await manager.readLog(1, { offset: end })).toMatchObject({ text: "", end });
  await manager.remove(1);
});

test("does not mix lines of one process with those of another, however much is unread", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  // More than one poll reads.
  const many = 3000;
  const padding = "x".repeat(200);
  const args = shell(`seq -f "$$ %g ${padding}" ${many}; sleep 301`);
  manager.start(programOf(1, { processes: 2, args }));
  await expect.poll(isUp(manager, 1, 2), soon).toBe(true);
  const pids = pidsOf(manager, 1);
  let text = "";
  let offset = 0;
  const read = async () => {
    const part = await manager.readLog(1, { offset });
    text += part.text;
    offset = part.end;
    return text.split("\n").length - 1;
  };
  await expect.poll(read, { ...soon, interval: 0 }).toBe(2 * many);
  for (const pid of pids) {
    const lines = text.split("\n").filter((line) => line.startsWith(`${pid} `));
    expect(lines).toEqual(Array.from({ length: many }, (_, n) => `${pid} ${n + 1} ${padding}`));
  }
  await manager.remove(1);
});

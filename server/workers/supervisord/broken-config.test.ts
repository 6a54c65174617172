// Tests orders while supervisord cannot read its configuration because of a foreign file.
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createLocalHost } from "../../hosts/local.ts";
import { makeFolder, makeInstance, programOf, soon } from "../supervisor/testing/supervisor.ts";
import { createNames } from "./program-file.ts";
import { isUp, makeManager, pidsOf } from "./testing/manager.ts";
import { startSupervisord, type TestSupervisord } from "./testing/supervisord.ts";
import { inLongForm } from "../../testing/long-form.ts";

let supervisord: TestSupervisord;
beforeAll(async () => {
  supervisord = await startSupervisord();
});
afterAll(() => supervisord?.close());

/** @returns a function that repairs the configuration */
function breakConfig(): () => void {
  const path = join(supervisord.programs, "others.conf");
  writeFileSync(path, "[program:others\n");
  const cure = () => rmSync(path, { force: true });
  onTestFinished(cure);
  return cure;
}

const filesOf = (instance: string) =>
  readdirSync(supervisord.programs).filter((name) => name.startsWith(createNames(instance).prefix));

test("deletes a worker, and removes processes from the files of others", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const program = programOf(2, { processes: 2 });
  manager.start(programOf(1, {}));
  manager.start(program);
  await expect.poll(() => isUp(manager, 1)() && isUp(manager, 2, 2)(), soon).toBe(true);
  breakConfig();
  await manager.remove(1);
  expect(filesOf(manager.instance)).toEqual([createNames(manager.instance).fileOf(2, ".conf")]);
  await manager.change({ ...program, processes: 1 }, program);
  const file = join(supervisord.programs, filesOf(manager.instance)[0] ?? "");
  await expect.poll(() => readFileSync(file, "utf8").match(/\[program:/g), soon).toHaveLength(1);
  await manager.remove(2);
  expect(filesOf(manager.instance)).toEqual([]);
});

test("running processes continue until they can restart with their new settings, and the reason is reported", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const one = programOf(1, { order: 1 });
  manager.start(one);
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  const before = pidsOf(manager, 1);
  const cure = breakConfig();
  const two = { ...one, args: ["sleep", "301"], settings: 2, order: 2 };
  const changed = manager.change(two, one);
  await expect
    .poll(() => manager.notice(1), soon)
    .toMatch(/^supervisord cannot read its configuration: .*others\.conf.* go on as they are/);
  expect(pidsOf(manager, 1)).toEqual(before);

  // A change that is given up does not affect processes that were not replaced yet.
  await manager.undo({ ...one, order: 3 });
  expect(manager.notice(1)).toBeNull();
  const again = manager.change({ ...two, settings: 4, order: 4 }, one);
  await expect.poll(() => manager.notice(1), soon).toMatch(/^supervisord cannot read/);
  expect(pidsOf(manager, 1)).toEqual(before);
  cure();
  await Promise.all([changed, again]);
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  expect(manager.notice(1)).toBeNull();
  expect(pidsOf(manager, 1)).not.toEqual(before);
  await manager.remove(1);
});

test("running processes continue while their program file can't be written, and the reason is reported", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const one = programOf(1, { order: 1 });
  manager.start(one);
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  const before = pidsOf(manager, 1);
  const [name = ""] = filesOf(manager.instance);
  // Blocks the temporary name of the file, even for root.
  const obstacle = join(supervisord.programs, `${name}.new`);
  mkdirSync(obstacle);
  onTestFinished(() => rmSync(obstacle, { recursive: true, force: true }));
  const two = { ...one, args: ["sleep", "301"], settings: 2, order: 2 };
  const changed = manager.change(two, one);
  await expect
    .poll(() => manager.notice(1), soon)
    .toMatch(/^Couldn't write .*\.conf: .*go on as they are/);
  expect(pidsOf(manager, 1)).toEqual(before);

  rmSync(obstacle, { recursive: true });
  await changed;
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  expect(manager.notice(1)).toBeNull();
  expect(pidsOf(manager, 1)).not.toEqual(before);
  await manager.remove(1);
});

test("a folder that supervisord includes first and that does not exist is passed over, for good", async (context) => {
  const usual = readFileSync(supervisord.config, "utf8");
  const first = join(supervisord.folder, "first");
  writeFileSync(supervisord.config, usual.replace("files = ", "files = first/*.conf "));
  context.onTestFinished(() => {
    writeFileSync(supervisord.config, usual);
    rmSync(first, { recursive: true, force: true });
  });
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const one = programOf(1, { order: 1 });
  manager.start(one);
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  const before = filesOf(manager.instance);
  expect(before).toHaveLength(1);
  manager.release();

  // Of two files with the same program, supervisord would go by the one in the later folder.
  mkdirSync(first);
  const { instance, folder } = manager;
  const next = makeManager(context, supervisord, { instance, folder });
  await next.resume([{ program: one, up: true }]);
  await expect.poll(() => next.away(1), soon).toBeNull();
  await next.change({ ...one, args: ["sleep", "301"], settings: 2, order: 2 }, one);
  await expect.poll(isUp(next, 1), soon).toBe(true);
  expect(readdirSync(first)).toEqual([]);
  expect(filesOf(instance)).toEqual(before);
  await next.remove(1);
  expect(filesOf(instance)).toEqual([]);
});

inLongForm(() => {
  test("reads the configuration once for each changed worker, and not several times", async (context) => {
    let readings = 0;
    const through = join(makeFolder(context), "through.sock");
    const proxy = createServer((client) => {
      const onward = connect(supervisord.socket);
      client.on("data", (sent) => (readings += sent.toString().split("reloadConfig").length - 1));
      pipeline(client, onward, client).catch(() => undefined);
    }).listen(through);
    context.onTestFinished(() => void proxy.close());
    await once(proxy, "listening");
    const { PATH = "" } = process.env;
    const { run } = createLocalHost({ PATH, HOME: "/" });
    const machine = {
      run,
      openSocket: async () => through,
      whyClosed: async () => null,
      environment: { PATH },
    };
    const manager = makeManager(context, supervisord, { machine });
    await manager.resume([]);
    const ids = Array.from({ length: 10 }, (_, index) => index + 1);
    const one = (id: number) => programOf(id, { order: 1 });
    for (const id of ids) manager.start(one(id));
    await expect.poll(() => ids.every((id) => isUp(manager, id)()), soon).toBe(true);
    readings = 0;
    await Promise.all(
      ids.map((id) =>
        manager.change({ ...one(id), args: ["sleep", "301"], settings: 2, order: 2 }, one(id)),
      ),
    );
    // Each must be added again, which reads it. On a slow machine several may be requested before that.
    expect(readings).toBeLessThanOrEqual(2 * ids.length);
    await Promise.all(ids.map((id) => manager.remove(id)));
  });
});

test("deletes the file of a deleted worker, and supervises the others", async (context) => {
  const given = { instance: makeInstance(), folder: makeFolder(context) };
  const program = programOf(1, {});
  const first = makeManager(context, supervisord, given);
  await first.resume([]);
  first.start(program);
  await expect.poll(isUp(first, 1), soon).toBe(true);
  first.release();
  const { fileOf } = createNames(given.instance);
  writeFileSync(join(supervisord.programs, fileOf(9, ".conf")), "[program:old]\ncommand=true\n");
  breakConfig();
  const second = makeManager(context, supervisord, given);
  await second.resume([{ program, up: true }]);
  await expect.poll(() => filesOf(given.instance), soon).toEqual([fileOf(1, ".conf")]);
  await expect.poll(isUp(second, 1), soon).toBe(true);
  expect(second.problems.filter((problem) => problem.includes("cannot be asked"))).toEqual([]);
  await second.remove(1);
});

test("settings that supervisord refuses are shown with the process that failed because of them, and the old ones restart it", async (context) => {
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  const one = programOf(1, { order: 1 });
  manager.start(one);
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  const account = { uid: 1, gid: 1, name: "no-such-account", home: "/" };
  const changed = manager.change({ ...one, account, settings: 2, order: 2 }, one);
  await expect
    .poll(() => manager.processes(1), soon)
    .toMatchObject([{ state: "FATAL", settings: 2 }]);
  await manager.undo({ ...one, order: 3 });
  await changed;
  await expect.poll(isUp(manager, 1), soon).toBe(true);
  await manager.remove(1);
});

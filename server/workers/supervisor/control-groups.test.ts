// Tests processes that cannot be found by the mark in their environment, because they have another environment or account.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, test, type TestContext } from "vitest";
import { findAccount } from "../../hosts/account.ts";
import type { ProcessManager, Program } from "../processes/process-manager.ts";
import { createControlGroups } from "./control-groups.ts";
import {
  isRunning,
  makeFolder,
  makeInstance,
  makeSupervisor,
  programOf,
  shell,
  soon,
} from "./testing/supervisor.ts";

const slot = { worker: 1, number: 1 };
/** Creates the slot's group and returns its path; null if the kernel or the account allows none. */
const groupOf = (instance: string): string | null => {
  const [command, , , , procs] = createControlGroups(instance).enclose(slot, ["true"]);
  return command === "true" || procs === undefined ? null : dirname(procs);
};
const probe = makeInstance();
const isGranted = groupOf(probe) !== null;
createControlGroups(probe).removeEmpty();

/** Reads the number that a script has written into a file; 0 until the file exists. */
const numberIn = (path: string): number => {
  try {
    return Number(readFileSync(path, "utf8"));
  } catch {
    return 0;
  }
};

const startedIn = (folder: string) => numberIn(join(folder, "child"));

async function setUp(context: TestContext, make: (folder: string) => Partial<Program>) {
  const account = await findAccount("daemon");
  if (account === null) throw new Error("this machine has no account daemon");
  const folder = makeFolder(context);
  chmodSync(folder, 0o755);
  chownSync(folder, account.uid, account.gid);
  const supervisor = makeSupervisor(context);
  const { instance } = supervisor;
  context.onTestFinished(createControlGroups(instance).of(slot).kill);
  const group = groupOf(instance);
  if (group === null) throw new Error("no control group");
  const program = programOf(1, { account, root: folder, startsecs: 0, ...make(folder) });
  supervisor.start(program);
  await context.expect.poll(() => startedIn(folder), soon).toBeGreaterThan(1);
  return { supervisor, instance, program, group, child: () => startedIn(folder), folder };
}

/** A program whose child has neither the mark nor the worker's process group and session. */
const withoutMark = (folder: string) =>
  shell(`env -i setsid sh -c 'echo $$ > ${folder}/child; exec sleep 300' & exec sleep 300`);

describe.runIf(isGranted)(
  "Where the kernel supports control groups, a stop",
  { concurrent: true },
  () => {
    test("ends a process with another environment and session", async (context) => {
      const { supervisor, child } = await setUp(context, (folder) => ({
        args: withoutMark(folder),
      }));
      await supervisor.stop(1);
      context.expect(isRunning(child())).toBe(false);
      context.expect(supervisor.kills).toEqual([]);
    });

    test("ends a process of another account", async (context) => {
      const { supervisor, group, child } = await setUp(context, (folder) => ({
        args: shell(`echo $$ > ${folder}/child; exec sleep 300`),
      }));
      // Like a child of `sudo`: root's, with root's environment, and still in the worker's group.
      const other = spawn("sleep", ["300"], { env: {}, detached: true, stdio: "ignore" });
      const ended = once(other, "exit");
      writeFileSync(join(group, "cgroup.procs"), String(other.pid));
      await supervisor.stop(1);
      await ended;
      context.expect(isRunning(child())).toBe(false);
    });

    test("ends a fork bomb at once", async (context) => {
      const { supervisor, group } = await setUp(context, (folder) => {
        const script = join(folder, "hop");
        writeFileSync(
          script,
          `trap '' TERM\nenv -i setsid sh ${script} & echo $$ > ${folder}/child\n`,
        );
        return { args: shell(`env -i setsid sh ${script} & exec sleep 300`), stopwaitsecs: 1 };
      });
      await supervisor.stop(1);
      context.expect(readFileSync(join(group, "cgroup.procs"), "utf8")).toBe("");
      context
        .expect(supervisor.kills)
        .toEqual(["1/1: Killed child processes still running after 1 second."]);
    });

    test("ends processes that were started before the service", async (context) => {
      const { supervisor, instance, program, child } = await setUp(context, (folder) => ({
        args: withoutMark(folder),
      }));
      supervisor.release();
      const next = makeSupervisor(context, { instance, folder: supervisor.folder });
      await next.resume([{ program, up: true }]);
      context.expect(isRunning(child())).toBe(true);
      await next.stop(1);
      context.expect(isRunning(child())).toBe(false);
    });

    test("does not affect another account's group of the same name", async (context) => {
      const { supervisor, instance, program, group, child } = await setUp(context, (folder) => ({
        args: withoutMark(folder),
      }));
      // A group that was delegated to the account, which may create any group below it.
      const place = join(dirname(dirname(group)), `given-${instance}`);
      const forged = join(place, `quarterdeck-${instance}`, "worker-1-1");
      mkdirSync(forged, { recursive: true });
      const uid = "uid" in program.account ? program.account.uid : -1;
      chownSync(dirname(forged), uid, -1);
      const bystander = spawn("sleep", ["300"], { env: {}, detached: true, stdio: "ignore" });
      const ended = once(bystander, "exit");
      writeFileSync(join(forged, "cgroup.procs"), String(bystander.pid));
      await supervisor.stop(1);
      context.expect(isRunning(child())).toBe(false);
      context.expect(isRunning(bystander.pid ?? 0)).toBe(true);
      bystander.kill("SIGKILL");
      await ended;
      for (const made of [forged, dirname(forged), place]) rmdirSync(made);
    });

    test.for([
      ["and the removal of its worker", (supervisor: ProcessManager) => supervisor.remove(1)],
      ["of all workers", (supervisor: ProcessManager) => supervisor.stopAll()],
    ] as const)("%s leaves no group behind", async ([, end], context) => {
      const { supervisor, group } = await setUp(context, (folder) => ({
        args: withoutMark(folder),
      }));
      context.expect(existsSync(group)).toBe(true);
      await end(supervisor);
      await context.expect.poll(() => existsSync(dirname(group)), soon).toBe(false);
    });
  },
);

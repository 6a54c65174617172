// Tests a worker's log that is deleted, replaced by something else, or made unreadable.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "vitest";
import { supportsAdoption } from "./process-table.ts";
import { makeSupervisor, programOf, shell, soon } from "./testing/supervisor.ts";
import { sendSignal } from "../../testing/signals.ts";

/** Creates a worker that writes ten consecutive numbers a second into its log. */
async function makeCounter({ expect, onTestFinished }: TestContext, processes = 1) {
  const supervisor = makeSupervisor({ onTestFinished });
  const args = shell("n=0; while :; do n=$((n + 1)); echo $$ $n; sleep 0.1; done");
  supervisor.start(programOf(1, { args, processes, startsecs: 0 }));
  const folder = join(supervisor.folder, "workers/1");
  const read = (from: { lines: number } | { offset: number }) => supervisor.readLog(1, from);
  const has = (text: string) =>
    expect.poll(async () => (await read({ lines: 1000 })).text, soon).toContain(text);
  const [pid = 0] = supervisor.processes(1).map((process) => process.pid ?? 0);
  await has(`${pid} 3\n`);
  return { supervisor, folder, log: join(folder, "log"), read, has, pid };
}

const numbersOf = (text: string, pid: number) =>
  [...text.matchAll(new RegExp(`^${pid} (\\d+)$`, "gm"))].map(([, number]) => Number(number));

describe("A log", { concurrent: true, skip: !supportsAdoption }, () => {
  test("that is deleted is reopened, and its follower misses nothing", async (context) => {
    const { expect } = context;
    const { log, read, pid, has } = await makeCounter(context, 2);
    // By the time that the next second's numbers are there, the service has checked the log once.
    await has(`${pid} 15\n`);
    let text = "";
    let end = 0;
    const follow = async () => {
      const part = await read({ offset: end });
      text += part.text;
      end = part.end;
      return text;
    };
    await follow();
    rmSync(log);
    await expect.poll(follow, soon).toContain("The log was deleted. New output starts here.\n");
    const last = Math.max(...numbersOf(text, pid));
    await expect.poll(follow, soon).toContain(`${pid} ${last + 15}\n`);
    const numbers = numbersOf(text, pid);
    expect(numbers.length).toBeGreaterThan(20);
    // Output between the last check and the deletion may be repeated, from the deleted file.
    const unlike = [...new Set(numbers)];
    expect(unlike).toEqual(unlike.map((_, index) => index + 1));
    expect((statSync(log).mode & 0o777).toString(8)).toBe("600");
  });

  test("that was replaced by a folder is reopened, and the folder is moved aside", async (context) => {
    const { expect } = context;
    const { supervisor, folder, log, pid, has } = await makeCounter(context);
    rmSync(log);
    mkdirSync(join(log, "kept"), { recursive: true });
    sendSignal(pid, "SIGKILL");
    await expect
      .poll(() => supervisor.processes(1)[0], soon)
      .toMatchObject({ state: "RUNNING", restarts: 1 });
    await has(`${supervisor.processes(1)[0]?.pid} 2\n`);
    const aside = readdirSync(folder).filter((name) => name.startsWith("log.set-aside-"));
    expect(aside.map((name) => readdirSync(join(folder, name)))).toEqual([["kept"]]);
  });

  test("that was replaced by a link is reopened, and the target of the link stays unchanged", async (context) => {
    const { expect } = context;
    const { folder, log, has } = await makeCounter(context);
    const target = join(folder, "..", "target");
    writeFileSync(target, "not a log", { mode: 0o644 });
    rmSync(log);
    symlinkSync(target, log);
    await has("The log was deleted. New output starts here.\n");
    expect(lstatSync(log).isFile()).toBe(true);
    expect(readFileSync(target, "utf8")).toBe("not a log");
    expect((statSync(target).mode & 0o777).toString(8)).toBe("644");
    const aside = readdirSync(folder).filter((name) => name.startsWith("log.set-aside-"));
    expect(aside.map((name) => readlinkSync(join(folder, name)))).toEqual([target]);
  });

  test("that became unreadable is made readable and writable again", async (context) => {
    const { expect } = context;
    const { supervisor, log, pid, has } = await makeCounter(context);
    chmodSync(log, 0o000);
    sendSignal(pid, "SIGKILL");
    await expect
      .poll(() => supervisor.processes(1)[0], soon)
      .toMatchObject({ state: "RUNNING", restarts: 1 });
    await has(`${supervisor.processes(1)[0]?.pid} 2\n`);
    expect((statSync(log).mode & 0o777).toString(8)).toBe("600");
  });
});

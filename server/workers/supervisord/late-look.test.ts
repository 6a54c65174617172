// Tests that a process started before an order does not fulfill it, however late it is noticed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { makeFolder, programOf, shell, soon } from "../supervisor/testing/supervisor.ts";
import type { Program } from "../processes/process-manager.ts";
import { isUp, makeManager } from "./testing/manager.ts";
import { startSupervisord, type TestSupervisord } from "./testing/supervisord.ts";

let supervisord: TestSupervisord;
beforeAll(async () => {
  supervisord = await startSupervisord();
});
afterAll(() => supervisord?.close());

/**
 * Starts a worker whose manager polls only when woken, and which records each start of its process. The process ends half a
 * second after its signal.
 */
async function startOne(context: TestContext, given: Partial<Program> = {}) {
  const hourMs = 3_600_000;
  const manager = makeManager(context, supervisord, { busyMs: hourMs, restMs: hourMs });
  const noted = join(makeFolder(context), "starts");
  // Recorded after the trap: a signal before the trap ends a process that has recorded nothing.
  const script = `trap 'sleep 0.5; exit 0' TERM; echo >> ${noted}; while :; do sleep 0.1; done`;
  const program = programOf(1, { args: shell(script), order: 1, startsecs: 0, ...given });
  await manager.resume([]);
  const starts = () => readFileSync(noted, "utf8").length;
  const looksUp = () => {
    manager.wake();
    return isUp(manager, 1)();
  };
  manager.start(program);
  await expect.poll(looksUp, soon).toBe(true);
  // supervisord reports a process as up before it has run its first line.
  await expect.poll(starts, soon).toBe(1);
  /** Polls until the promise is settled. */
  const looking = async (given: Promise<unknown>) => {
    const timer = setInterval(manager.wake, 50);
    await given.finally(() => clearInterval(timer));
  };
  return { manager, program, starts, looking };
}

const orders = [
  ["a restart", (program: Program) => ({ ...program, order: (program.order ?? 0) + 1 })],
  [
    "a deployment",
    (program: Program) => {
      const deployment = (program.deployment ?? 0) + 1;
      return { ...program, deployment, requiredDeployment: deployment };
    },
  ],
] as const;

describe.for(orders)("%s", ([name, next]) => {
  const give = (manager: Awaited<ReturnType<typeof startOne>>["manager"], program: Program) =>
    name === "a restart" ? manager.restart(program) : manager.deploy(program);

  test("replaces what the previous one started, even before the manager has noticed it", async (context) => {
    const { manager, program, starts, looking } = await startOne(context);
    const second = next(program);
    const first = give(manager, second);
    // supervisord starts the process again by itself.
    await expect.poll(starts, soon).toBe(2);
    await looking(Promise.all([first, give(manager, next(second))]));
    await looking(expect.poll(isUp(manager, 1), soon).toBe(true));
    await expect.poll(starts, soon).toBe(3);
  });

  test("that comes before the previous one has ended any process is carried out with it", async (context) => {
    const { manager, program, starts, looking } = await startOne(context);
    const second = next(program);
    await looking(Promise.all([give(manager, second), give(manager, next(second))]));
    await looking(expect.poll(isUp(manager, 1), soon).toBe(true));
    await expect.poll(starts, soon).toBe(2);
  });
});

// Creates a process manager for a supervisord, and records what it reports.
import { join } from "node:path";
import type { TestContext } from "vitest";
import { createLocalHost } from "../../../hosts/local.ts";
import {
  keepReports,
  makeFolder,
  makeInstance,
  type TestSupervisor,
} from "../../supervisor/testing/supervisor.ts";
import type { Clock } from "../../../clock.ts";
import type { LookingManager } from "../../processes/process-manager.ts";
import type { Machine } from "../machine.ts";
import { createSupervisordManager } from "../manager.ts";
import type { TestSupervisord } from "./supervisord.ts";

export type TestManager = TestSupervisor &
  Pick<LookingManager, "wake"> & { asked(): (readonly string[])[] };

type Given = {
  folder?: string;
  instance?: string;
  machine?: Machine;
  clock?: Clock;
  busyMs?: number;
  restMs?: number;
};

/**
 * Creates a manager that polls every `busyMs` (50 ms), or every `restMs` (200 ms) at rest; `asked` returns the commands on its
 * machine. It is released at the end of the test; its programs end with supervisord.
 */
export function makeManager(
  context: Pick<TestContext, "onTestFinished">,
  { config }: Pick<TestSupervisord, "config">,
  given: Given = {},
): TestManager {
  const instance = given.instance ?? makeInstance();
  const folder = given.folder ?? makeFolder(context);
  const { listener, reports } = keepReports((id) => manager.processes(id));
  const { PATH = "" } = process.env;
  const host = createLocalHost({ PATH, HOME: "/" });
  const asked: (readonly string[])[] = [];
  const machine = given.machine ?? {
    run: host.run,
    openSocket: async (path) => path,
    whyClosed: async () => null,
    environment: { PATH },
  };
  const manager = createSupervisordManager({
    ...listener,
    clock: given.clock ?? listener.clock,
    machine: {
      ...machine,
      run(command) {
        asked.push(command.argv);
        return machine.run(command);
      },
    },
    config,
    folder: join(folder, "workers"),
    instance,
    pace: { busyMs: given.busyMs ?? 50, awayMs: 200, restMs: given.restMs ?? 200, compareMs: 1500 },
  });
  context.onTestFinished(() => manager.release());
  return { ...manager, ...reports, instance, folder, asked: () => asked };
}

export const pidsOf = (manager: TestManager, id: number) =>
  manager.processes(id).flatMap(({ pid }) => pid ?? []);
export const isUp =
  (manager: TestManager, id: number, count = 1) =>
  () => {
    const states = manager.processes(id).map(({ state }) => state);
    return states.length === count && states.every((state) => state === "RUNNING");
  };

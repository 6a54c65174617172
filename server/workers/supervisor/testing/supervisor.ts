// For the tests: a supervisor on a temporary folder, and a view of the processes that is not its own.
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { type Clock, systemClock } from "../../../clock.ts";
import { ownAccount } from "../../../hosts/account.ts";
import type { ProcessState } from "../../../../contract/workers/worker.ts";
import type {
  Kill,
  ProcessManager,
  ProcessStatus,
  Program,
} from "../../processes/process-manager.ts";
import { createSupervisor } from "../supervisor.ts";
import { sendSignal } from "../../../testing/signals.ts";

/** Taken from the test's context, because concurrent tests share no global "current test". */
type Cleanup = Pick<TestContext, "onTestFinished">;

/** Creates a folder in /tmp, whose path only root can change. */
export function makeFolder({ onTestFinished }: Cleanup): string {
  const folder = mkdtempSync(join(tmpdir(), "quarterdeck-workers-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const makeInstance = (): string => `test-${randomBytes(6).toString("hex")}`;

export const programOf = (id: number, given: Partial<Program>): Program => ({
  id,
  args: ["sleep", "300"],
  root: "/",
  directory: null,
  account: ownAccount(),
  processes: 1,
  startsecs: 1,
  startretries: 3,
  stopwaitsecs: 10,
  stopsignal: "TERM",
  stopasgroup: false,
  order: null,
  settings: 0,
  maxJobs: 0,
  maxTime: 0,
  deployment: null,
  requiredDeployment: null,
  ...given,
});

export const shell = (script: string): string[] => ["sh", "-c", script];

export type Marked = {
  pid: number;
  /** `<worker>/<number>`. */
  slot: string;
  nonce: string;
  leads: boolean;
  command: string;
};

const readProc = (pid: string, name: string) => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return "";
  }
};

/** Returns the living processes with a mark of the instance. */
export function marked(instance: string): Marked[] {
  return readdirSync("/proc").flatMap((pid) => {
    const mark = new RegExp(`QUARTERDECK_WORKER=${instance}/(\\d+/\\d+)/(\\w+)\0`).exec(
      /^\d+$/.test(pid) ? readProc(pid, "environ") : "",
    );
    const [state, , group] = readProc(pid, "stat")
      .replace(/^.*\) /s, "")
      .split(" ");
    if (mark === null || state === undefined || "ZX".includes(state)) return [];
    const [, slot = "", nonce = ""] = mark;
    const command = readProc(pid, "cmdline").replaceAll("\0", " ").trim();
    return [{ pid: Number(pid), slot, nonce, leads: group === pid, command }];
  });
}

/** Returns the fields of /proc/<pid>/status, e.g. `Uid`. */
export const statusOf = (pid: number): Record<string, string> =>
  Object.fromEntries(
    readProc(String(pid), "status")
      .split("\n")
      .map((line): [string, string] => {
        const [name = "", value = ""] = line.split(":\t");
        return [name, value];
      }),
  );

export const isRunning = (pid: number): boolean => {
  const state = statusOf(pid)["State"];
  return state !== undefined && !/^[ZX]/.test(state);
};

/** Kills the processes that a test has left, by the mark of its instance. */
export function endMarked(instance: string): void {
  for (const { pid } of marked(instance)) {
    try {
      sendSignal(pid, "SIGKILL");
    } catch {
      // ended by itself
    }
  }
}

export type TestSupervisor = ProcessManager & {
  instance: string;
  folder: string;
  /** Returns all states that process `number` of the worker entered, in order. */
  history(id: number, number?: number): ProcessState[];
  state(id: number, number?: number): ProcessState | undefined;
  problems: string[];
  /** "<worker>/<number>: <reason>" for each process that had to be killed. */
  kills: string[];
};

type Given = {
  folder?: string;
  instance?: string;
  environment?: Record<string, string>;
  clock?: Clock;
};

/** Records what a process manager reports. */
export function keepReports(processesOf: (id: number) => ProcessStatus[]) {
  const histories = new Map<string, ProcessState[]>();
  const problems: string[] = [];
  const kills: string[] = [];
  const noteProblem = (fields: object, message: string) =>
    problems.push(`${message} ${JSON.stringify(fields)}`);
  return {
    /** Options of the manager. */
    listener: {
      onChange(id: number) {
        for (const { number, state } of processesOf(id)) {
          const key = `${id}/${number}`;
          const history = histories.get(key) ?? [];
          histories.set(key, history);
          if (history.at(-1) !== state) history.push(state);
        }
      },
      onRestart() {},
      onKill: (id: number, { number, reason }: Kill) => kills.push(`${id}/${number}: ${reason}`),
      clock: systemClock,
      log: { info: () => {}, warn: noteProblem, error: noteProblem },
    },
    /** For the test. */
    reports: {
      problems,
      kills,
      history: (id: number, number = 1) => histories.get(`${id}/${number}`) ?? [],
      state: (id: number, number = 1) =>
        processesOf(id).find((status) => status.number === number)?.state,
    },
  };
}

/** Creates a supervisor, which is released, with its processes killed, at the end of the test. */
export function makeSupervisor(context: Cleanup, given: Given = {}): TestSupervisor {
  const instance = given.instance ?? makeInstance();
  const folder = given.folder ?? makeFolder(context);
  const { listener, reports } = keepReports((id) => supervisor.processes(id));
  const supervisor = createSupervisor({
    ...listener,
    folder: join(folder, "workers"),
    instance,
    environment: given.environment ?? { PATH: process.env["PATH"] ?? "" },
    ...(given.clock !== undefined && { clock: given.clock }),
  });
  context.onTestFinished(() => {
    supervisor.release();
    endMarked(instance);
  });
  return { ...supervisor, ...reports, instance, folder };
}

/** Options of `expect.poll`, long enough for a busy machine. */
export const soon = { timeout: 120_000, interval: 20 };

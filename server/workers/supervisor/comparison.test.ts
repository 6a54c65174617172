// Runs the same scripts of starts and stops against Debian's supervisord, the service's supervisor, and the process manager for
// supervisord, and compares the states.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test, vi } from "vitest";
import type { Program } from "../processes/process-manager.ts";
import { hasSupervisord, startSupervisord, type Supervisord } from "./testing/supervisord.ts";
import { isLongForm } from "../../testing/long-form.ts";
import { makeManager } from "../supervisord/testing/manager.ts";
import {
  startSupervisord as startKept,
  type TestSupervisord,
} from "../supervisord/testing/supervisord.ts";
import { isRunning, makeSupervisor, programOf } from "./testing/supervisor.ts";
import { sendSignal } from "../../testing/signals.ts";

type Step = "start" | "stop" | "kill" | `until ${string}`;

type Case = {
  name: string;
  script: string;
  settings?: Partial<Program>;
  steps: Step[];
  /** Its states change several times between two polls of a supervisord, so the test cannot wait for each. */
  isTooQuickToSee?: true;
};

/** Ends like that twice, then keeps running. */
const twice = (end: string) =>
  `n=$(cat count 2>/dev/null || echo 0); echo $((n + 1)) > count; [ $n -lt 2 ] && { ${end}; }; exec sleep 300`;

/** Time in which an immediate exit is handled: supervisord notices an exit up to a second late, and counts from then on. */
const unhurried = { startsecs: 3 };

const cases: Case[] = [
  {
    name: "sleeps",
    script: "exec sleep 300",
    steps: ["start", "until RUNNING", "stop", "until STOPPED", "start", "until RUNNING", "stop"],
  },
  {
    name: "exits-at-once-with-0",
    script: "exit 0",
    settings: { startretries: 2, ...unhurried },
    steps: ["start", "until FATAL", "start", "until FATAL"],
  },
  {
    name: "exits-at-once-with-1",
    script: "exit 1",
    settings: { startretries: 1, ...unhurried },
    steps: ["start", "until FATAL"],
  },
  {
    name: "exits-at-once-and-is-stopped-meanwhile",
    script: "exit 1",
    // Its fifth pause takes 5 s, in which even a busy machine stops all three of them.
    settings: { startretries: 9, ...unhurried },
    steps: ["start", ...Array.from({ length: 5 }, () => "until BACKOFF" as const), "stop"],
  },
  {
    name: "exits-at-once-then-stays",
    script: twice("exit 1"),
    settings: unhurried,
    steps: ["start", "until RUNNING", "stop"],
  },
  {
    name: "exits-after-2-s",
    script: twice("sleep 2; exit 0"),
    steps: ["start", "until RUNNING", "until RUNNING", "until RUNNING", "stop"],
  },
  {
    name: "exits-at-once-without-start-seconds",
    script: twice("exit 0"),
    settings: { startsecs: 0 },
    isTooQuickToSee: true,
    steps: ["start", "until RUNNING", "until RUNNING", "until RUNNING", "stop"],
  },
  {
    name: "ignores-term",
    script: `trap "" TERM; while :; do sleep 0.1; done`,
    settings: { stopwaitsecs: 2 },
    steps: ["start", "until RUNNING", "stop"],
  },
  {
    name: "ignores-term-and-is-stopped-while-starting",
    script: `trap "" TERM; while :; do sleep 0.1; done`,
    settings: { stopwaitsecs: 2, startsecs: 60 },
    steps: ["start", "until STARTING", "stop"],
  },
  {
    name: "forks-a-child",
    script: "sleep 300 & echo $! > child; wait",
    steps: ["start", "until RUNNING", "stop"],
  },
  {
    name: "is-killed-from-outside",
    script: "exec sleep 300",
    steps: ["start", "until RUNNING", "kill", "until RUNNING", "stop"],
  },
];

/** Cases for `npm run soak` only: each combines others that `npm test` has. */
const longOnly = new Set(["exits-at-once-with-1", "exits-at-once-and-is-stopped-meanwhile"]);
const tried = cases.filter(({ name }) => isLongForm || !longOnly.has(name));

type Driver = {
  start(): unknown;
  stop(): unknown;
  history(): string[];
  pid(): Promise<number> | number;
};

/** Carries out the steps. @returns the resulting states */
async function play(steps: Step[], driver: Driver): Promise<string[]> {
  let seen = 0;
  const until = async (state: string) => {
    // Polls continuously, because the next step must happen in that state.
    await vi.waitUntil(() => driver.history().includes(state, seen), {
      timeout: 60_000,
      interval: 20,
    });
    seen = driver.history().indexOf(state, seen) + 1;
  };
  for (const step of steps) {
    if (step === "start") await driver.start();
    else if (step === "stop") await driver.stop();
    else if (step === "kill") sendSignal(await driver.pid(), "SIGKILL");
    else await until(step.slice("until ".length));
  }
  if (steps.at(-1) === "stop") await until("STOPPED");
  return driver.history();
}

/** Returns those of the states that happened, in this order. */
function partOf(happened: string[], states: string[]): string[] {
  let next = 0;
  return states.filter((state) => {
    const at = happened.indexOf(state, next);
    if (at !== -1) next = at + 1;
    return at !== -1;
  });
}

const mustCompare = process.env["CI"] === "true" || process.geteuid?.() === 0;

const title = "A program has the states that it has under supervisord";
const missing = "supervisord is not installed: apt-get install supervisor";

describe.skipIf(!hasSupervisord && !mustCompare)(
  // oxlint-disable-next-line vitest/valid-title -- says what to install where it is left out
  hasSupervisord ? title : `${title} (${missing})`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), "quarterdeck-comparison-"));
    const programs = (side: string) =>
      new Map(
        cases.map(({ name, script, settings }, index) => {
          const directory = join(folder, side, name);
          mkdirSync(directory, { recursive: true });
          writeFileSync(join(directory, "program"), script);
          const args = ["sh", "program"];
          return [name, programOf(index + 1, { args, directory, ...settings })] as const;
        }),
      );
    const ours = programs("ours");
    const asked = programs("asked");
    let supervisord: Supervisord;
    let kept: TestSupervisord;

    beforeAll(async () => {
      if (!hasSupervisord) throw new Error(missing);
      supervisord = await startSupervisord(programs("theirs"));
      kept = await startKept();
    });

    afterAll(async () => {
      await supervisord?.close();
      await kept?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    test.concurrent.for(tried)(
      "$name",
      async ({ name, steps, isTooQuickToSee }, { expect, onTestFinished }) => {
        const supervisor = makeSupervisor({ onTestFinished });
        const program = ours.get(name) ?? programOf(1, {});
        const manager = makeManager({ onTestFinished }, kept);
        await manager.resume([]);
        const askedProgram = asked.get(name) ?? programOf(1, {});
        const [theirHistory, ourHistory, askedHistory] = await Promise.all([
          play(steps, {
            start: () => supervisord.start(name),
            stop: () => supervisord.stop(name),
            history: () => supervisord.history(name),
            pid: () => supervisord.pid(name),
          }),
          play(steps, {
            start: () => supervisor.start(program),
            stop: () => supervisor.stop(program.id),
            history: () => supervisor.history(program.id),
            pid: () => supervisor.processes(program.id)[0]?.pid ?? 0,
          }),
          play(isTooQuickToSee ? ["start", "until RUNNING", "stop"] : steps, {
            start: () => manager.start(askedProgram),
            stop: () => manager.stop(askedProgram.id),
            history: () => manager.history(askedProgram.id),
            pid: () => manager.processes(askedProgram.id)[0]?.pid ?? 0,
          }),
        ]);
        expect(ourHistory).toEqual(theirHistory);
        // The manager polls supervisord, and may miss what is over between two polls. One that was stopped at another moment
        // has another history.
        if (!isTooQuickToSee) {
          expect(partOf(theirHistory, askedHistory)).toEqual(askedHistory);
          expect([askedHistory[0], askedHistory.at(-1)]).toEqual([
            theirHistory[0],
            theirHistory.at(-1),
          ]);
        }
        expect(ourHistory.length).toBeGreaterThan(2);
        if (name !== "forks-a-child") return;
        for (const side of ["ours", "theirs", "asked"]) {
          const child = Number(readFileSync(join(folder, side, name, "child"), "utf8"));
          await expect.poll(() => isRunning(child)).toBe(false);
        }
      },
    );
  },
);

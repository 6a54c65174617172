// Kills the service repeatedly, at random moments, including in the middle of a start.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { makeRandom, makeSeed } from "../../testing/random.ts";
import {
  endMarked,
  isRunning,
  makeFolder,
  makeInstance,
  type Marked,
  marked,
  programOf,
  shell,
  soon,
} from "./testing/supervisor.ts";
import { sendSignal } from "../../testing/signals.ts";

/** `npm run soak -- kills` has more. */
const rounds = Number(process.env["SUPERVISOR_KILLS"] ?? 3);
const seed = makeSeed();

/** Command of the grandchildren, which distinguishes them from the processes of the workers. */
const grandchild = "sleep 7777";

const programs = [
  programOf(1, { args: ["sleep", "1000"], processes: 2 }),
  programOf(2, { args: shell("sleep 1000 & wait"), processes: 2 }),
  // Restarts continuously, so that many of the kills happen during a start.
  programOf(3, { args: ["sleep", "0.3"], processes: 2, startsecs: 0 }),
  programOf(4, { args: shell(`setsid ${grandchild} & sleep 1000`), processes: 2 }),
];
const slots = programs.flatMap(({ id }) => [`${id}/1`, `${id}/2`]);
const isSteady = ({ slot }: Marked) => !slot.startsWith("3/");

const leadersOf = (instance: string) =>
  marked(instance).filter(({ leads, command }) => leads && !command.endsWith(grandchild));

/** Resolves when each slot was seen with a process, and rejects when one was seen with two. */
async function allSeen(instance: string, where: string): Promise<void> {
  const missing = new Set(slots);
  let failure: unknown = null;
  await vi.waitFor(
    () => {
      try {
        for (const slot of expectSingle(instance, where)) missing.delete(slot);
      } catch (error) {
        failure = error; // once is enough, while `waitFor` would try again
        return;
      }
      expect([...missing], where).toEqual([]);
    },
    { timeout: 60_000, interval: 20 },
  );
  if (failure !== null) throw failure;
}

/** Returns the slots that have a process. Expects that none has two. */
function expectSingle(instance: string, where: string): string[] {
  const now = leadersOf(instance)
    .map(({ slot }) => slot)
    .sort();
  expect([...new Set(now)], `${where}: one process for each slot`).toEqual(now);
  return now;
}

/** Resolves when the host has printed the word. */
const hears = (host: ChildProcess, word: string) =>
  new Promise<void>((resolve, reject) => {
    let heard = "";
    host.stdout?.on("data", (text: Buffer) => {
      heard += String(text);
      if (heard.includes(word)) resolve();
    });
    host.once("exit", () => reject(new Error(`the host ended before it "${word}"`)));
  });

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test(
  `after each of ${rounds} kills of the service every process is found again, and none is started twice (CRASH_SEED=${seed})`,
  { timeout: 120_000 + rounds * 5000 },
  async (context) => {
    const random = makeRandom(seed);
    const instance = makeInstance();
    const folder = join(makeFolder(context), "workers");
    let host: ChildProcess | null = null;
    const startHost = () => {
      const script = join(import.meta.dirname, "crash-host.ts");
      const args = [script, folder, instance, JSON.stringify(programs)];
      host = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
      return host;
    };
    context.onTestFinished(() => {
      host?.kill("SIGKILL");
      endMarked(instance);
    });

    let adopted = 0;
    for (let round = 1; round <= rounds; round += 1) {
      const before = leadersOf(instance);
      const isEarly = random() < 0.4;
      const delayMs = Math.floor(random() * (isEarly ? 60 : 700));
      const running = startHost();
      const ended = once(running, "exit");
      const where = `round ${round}, killed ${delayMs} ms after it ${isEarly ? "began" : "resumed"}`;
      await hears(running, isEarly ? "begins" : "resumed");

      if (!isEarly) {
        // A process that ran while the service was down is still the slot's process.
        const now = leadersOf(instance);
        for (const { slot, pid } of before.filter(isSteady)) {
          const pids = now.filter((leader) => leader.slot === slot).map((leader) => leader.pid);
          expect(pids, `${where}: ${slot}`).toEqual([pid]);
          adopted += 1;
        }
        await allSeen(instance, where);
      }
      await pause(delayMs);
      const steady = leadersOf(instance).filter(isSteady);
      const victim = steady[Math.floor(random() * steady.length)];
      // One process dies, noticed by the service at once, or only after its restart.
      const fate = random();
      if (victim !== undefined && fate < 0.2) sendSignal(victim.pid, "SIGKILL");
      running.kill("SIGKILL");
      await ended;
      if (victim !== undefined && fate > 0.8) sendSignal(victim.pid, "SIGKILL");
      if (victim !== undefined && (fate < 0.2 || fate > 0.8))
        await vi.waitFor(() => expect(isRunning(victim.pid), where).toBe(false), soon);

      expectSingle(instance, where);
    }
    expect(adopted).toBeGreaterThan(rounds);

    const last = startHost();
    await hears(last, "resumed");
    await allSeen(instance, "the end");
    last.stdin?.write("remove\n");
    await hears(last, "removed");
    expect(marked(instance)).toEqual([]);
    expect(programs.filter(({ id }) => existsSync(join(folder, String(id))))).toEqual([]);
  },
);

// Samples the CPU and memory usage of each process, and keeps the last hour in memory.
import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import type { ProcessUsage } from "../processes/process-manager.ts";
import { type GroupUsage, readGroups, ticksPerSecond } from "./group-usage.ts";
import { supportsAdoption } from "./process-table.ts";

export const sampleEverySeconds = 15;
const keptMs = 3600_000;

type Watched = {
  program: { id: number };
  slots: ReadonlyMap<number, { status(): { number: number; pid: number | null } }>;
};

type Running = { worker: number; number: number; pid: number };

type History = ProcessUsage & { pid: number; atMs: number; ticks: GroupUsage["ticks"] };

type UsageHistoryOptions = {
  /** Returns all processes that run now. */
  running(): Running[];
  clock: Clock;
  log: Log;
};

const keyOf = ({ worker, number }: Pick<Running, "worker" | "number">) => `${worker}/${number}`;

/** Returns the clock ticks used since the last sample, without the last ticks of members that have ended meanwhile. */
function ticksSince(before: GroupUsage["ticks"], now: GroupUsage["ticks"]): number {
  let sum = 0;
  for (const [member, ticks] of now) sum += ticks - (before.get(member) ?? 0);
  return Math.max(0, sum);
}

/** Returns the processes of a worker that run now. */
export const runningOf = ({ program, slots }: Watched): Running[] =>
  [...slots.values()].flatMap((slot) => {
    const { number, pid } = slot.status();
    return pid === null ? [] : { worker: program.id, number, pid };
  });

export function createUsageHistory({ running, clock, log }: UsageHistoryOptions) {
  const histories = new Map<string, History>();
  let cancel = () => {};

  function historyOf(key: string): History {
    const history = histories.get(key) ?? {
      pid: 0,
      atMs: 0,
      ticks: new Map<string, number>(),
      starts: [],
      samples: [],
    };
    histories.set(key, history);
    return history;
  }

  function sample(): void {
    const nowMs = clock.now();
    const processes = running();
    const groups = readGroups(new Set(processes.map(({ pid }) => pid)));
    for (const one of processes) {
      const usage = groups.get(one.pid);
      if (usage === undefined) continue;
      const history = historyOf(keyOf(one));
      // At the first sample of a process, it is unknown when it used its ticks.
      if (history.pid === one.pid && nowMs > history.atMs) {
        const seconds = (nowMs - history.atMs) / 1000;
        const cores = ticksSince(history.ticks, usage.ticks) / ticksPerSecond / seconds;
        const cpu = Math.round(cores * 1000) / 10;
        history.samples.push({ atMs: nowMs, cpu, memory: usage.residentBytes });
      }
      Object.assign(history, { pid: one.pid, atMs: nowMs, ticks: usage.ticks });
    }
    forgetOld(nowMs - keptMs);
  }

  function forgetOld(beforeMs: number): void {
    for (const [key, { samples, starts, atMs }] of histories) {
      while (samples[0] !== undefined && samples[0].atMs <= beforeMs) samples.shift();
      while (starts[0] !== undefined && starts[0] <= beforeMs) starts.shift();
      // A process that was just sampled for the first time has no sample yet, and is kept.
      if (samples.length + starts.length === 0 && atMs <= beforeMs) histories.delete(key);
    }
  }

  function run(): void {
    try {
      sample();
    } catch (error) {
      log.warn({ err: error }, "what the workers use could not be read");
    }
    next();
  }

  function next(): void {
    cancel = clock.after(sampleEverySeconds * 1000, run);
  }

  return {
    start() {
      if (supportsAdoption) next();
    },
    /** To be called when a process is started. */
    noteStart: (worker: number, number: number) =>
      void historyOf(keyOf({ worker, number })).starts.push(clock.now()),
    of: (worker: number, number: number): ProcessUsage =>
      histories.get(keyOf({ worker, number })) ?? { starts: [], samples: [] },
    stop: () => cancel(),
  };
}

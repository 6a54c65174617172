// Processor time of a service under measurement.
import { readdir, readFile } from "node:fs/promises";
import { ticksPerSecond } from "../server/workers/supervisor/group-usage.ts";

type Found = { parent: number; name: string; seconds: number; ended: number };

type CpuSeconds = {
  own: number;
  /** Of its children that have ended. */
  ended: number;
  /** Of all below it that still run, by the names of their programs. */
  below: Record<string, number>;
};

export async function cpuSecondsOf(pid: number): Promise<CpuSeconds> {
  const all = new Map<number, Found>();
  for (const number of await readdir("/proc")) {
    if (!/^\d+$/.test(number)) continue;
    const stat = await readFile(`/proc/${number}/stat`, "utf8").catch(() => "");
    const [, name = "", rest = ""] = /^\d+ \((.*)\) (.*)$/s.exec(stat) ?? [];
    // State, parent, nine others, time in user and system mode, the same of children that have ended.
    const fields = rest.split(" ").map(Number);
    const [, parent = 0] = fields;
    const secondsAt = (index: number) =>
      ((fields[index] ?? 0) + (fields[index + 1] ?? 0)) / ticksPerSecond;
    all.set(Number(number), { parent, name, seconds: secondsAt(11), ended: secondsAt(13) });
  }
  const isBelow = ({ parent }: Found): boolean => {
    if (parent === pid) return true;
    const above = all.get(parent);
    return above !== undefined && isBelow(above);
  };
  const below: Record<string, number> = {};
  for (const found of all.values())
    if (isBelow(found)) below[found.name] = (below[found.name] ?? 0) + found.seconds;
  const { seconds: own = 0, ended = 0 } = all.get(pid) ?? {};
  return { own, ended, below };
}

// Processor time of a service under measurement.
import { readdir, readFile } from "node:fs/promises";
import { ticksPerSecond } from "../server/workers/supervisor/group-usage.ts";

type Found = { parent: number; name: string; seconds: number };

/** Of a process itself, and of all below it that still run, by the names of their programs. */
export async function cpuSecondsOf(
  pid: number,
): Promise<{ own: number; below: Record<string, number> }> {
  const all = new Map<number, Found>();
  for (const number of await readdir("/proc")) {
    if (!/^\d+$/.test(number)) continue;
    const stat = await readFile(`/proc/${number}/stat`, "utf8").catch(() => "");
    const [, name = "", rest = ""] = /^\d+ \((.*)\) (.*)$/s.exec(stat) ?? [];
    // State, parent, nine others, time in user and system mode.
    const fields = rest.split(" ").map(Number);
    const [, parent = 0] = fields;
    const ticks = (fields[11] ?? 0) + (fields[12] ?? 0);
    all.set(Number(number), { parent, name, seconds: ticks / ticksPerSecond });
  }
  const isBelow = ({ parent }: Found): boolean => {
    if (parent === pid) return true;
    const above = all.get(parent);
    return above !== undefined && isBelow(above);
  };
  const below: Record<string, number> = {};
  for (const found of all.values())
    if (isBelow(found)) below[found.name] = (below[found.name] ?? 0) + found.seconds;
  return { own: all.get(pid)?.seconds ?? 0, below };
}

// What process groups take of the machine, from one look at /proc. See proc_pid_stat(5).
import { readdirSync, readFileSync } from "node:fs";

export type GroupUsage = {
  /** Clock ticks that each member has used so far, by its pid and start time. */
  ticks: ReadonlyMap<string, number>;
  residentBytes: number;
};

/** The kernel counts in hundredths of a second for programs, whatever it does itself. */
export const ticksPerSecond = 100;

/** From `state` on; the name before it may hold anything. */
function fieldsOf(pid: string): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    // It ended meanwhile.
    return null;
  }
}

/** The kernel counts memory in pages, whose size differs from machine to machine: by what is known of this process. */
function pageSize(): number {
  const pages = Number(fieldsOf("self")?.[21] ?? 0);
  const bytes = pages === 0 ? 4096 : process.memoryUsage.rss() / pages;
  return 2 ** Math.max(12, Math.round(Math.log2(bytes)));
}

let pageBytes: number | null = null;

/** @param leaders pids, each of which leads a group of its own */
export function readGroups(leaders: ReadonlySet<number>): Map<number, GroupUsage> {
  const found = new Map<number, { ticks: Map<string, number>; residentBytes: number }>();
  if (leaders.size === 0) return found;
  pageBytes ??= pageSize();
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const fields = fieldsOf(pid);
    const group = Number(fields?.[2]);
    // One that has ended and was not waited for yet takes nothing any more.
    if (fields === null || fields[0] === "Z" || !leaders.has(group)) continue;
    const usage = found.get(group) ?? { ticks: new Map<string, number>(), residentBytes: 0 };
    found.set(group, usage);
    usage.ticks.set(`${pid}/${fields[19]}`, Number(fields[11]) + Number(fields[12]));
    usage.residentBytes += Number(fields[21]) * pageBytes;
  }
  return found;
}

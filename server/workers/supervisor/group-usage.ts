// Reads the CPU and memory usage of process groups in one scan of /proc. See proc_pid_stat(5).
import { readdirSync, readFileSync } from "node:fs";

export type GroupUsage = {
  /** Clock ticks that each member has used so far, by its pid and start time. */
  ticks: ReadonlyMap<string, number>;
  residentBytes: number;
};

/** The kernel reports hundredths of a second to programs, whatever its own timer frequency is. */
export const ticksPerSecond = 100;

/** Returns the fields from `state` on; the name before it may contain any character. */
function fieldsOf(pid: string): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    // The process has ended meanwhile.
    return null;
  }
}

/** Returns the page size in bytes, computed from this process's own memory: in pages from /proc, and in bytes from Node. */
function pageSize(): number {
  const pages = Number(fieldsOf("self")?.[21] ?? 0);
  const bytes = pages === 0 ? 4096 : process.memoryUsage.rss() / pages;
  return 2 ** Math.max(12, Math.round(Math.log2(bytes)));
}

let pageBytes: number | null = null;

/** @param leaders pids of group leaders. @returns the usage by the leader's pid */
export function readGroups(leaders: ReadonlySet<number>): Map<number, GroupUsage> {
  const found = new Map<number, { ticks: Map<string, number>; residentBytes: number }>();
  if (leaders.size === 0) return found;
  pageBytes ??= pageSize();
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const fields = fieldsOf(pid);
    const group = Number(fields?.[2]);
    // A zombie uses nothing.
    if (fields === null || fields[0] === "Z" || !leaders.has(group)) continue;
    const usage = found.get(group) ?? { ticks: new Map<string, number>(), residentBytes: 0 };
    found.set(group, usage);
    usage.ticks.set(`${pid}/${fields[19]}`, Number(fields[11]) + Number(fields[12]));
    usage.residentBytes += Number(fields[21]) * pageBytes;
  }
  return found;
}

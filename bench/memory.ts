// Memory of a service under measurement.
import { readFile, writeFile } from "node:fs/promises";

/**
 * The system notes the peak, so that nothing is asked meanwhile: what looks often takes its time from what is measured.
 * See proc_pid_clear_refs(5).
 * @returns a function that answers the most that it was above its beginning, in MB
 */
export async function watchMemory(pid: number): Promise<() => Promise<number>> {
  await writeFile(`/proc/${pid}/clear_refs`, "5");
  const rest = await readMb(pid, "VmRSS");
  return async () => (await readMb(pid, "VmHWM")) - rest;
}

async function readMb(pid: number, name: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

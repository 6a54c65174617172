// Measures the memory of a service.
import { readFile, writeFile } from "node:fs/promises";

/**
 * The kernel records the peak, so that no polling distorts the measurement. See proc_pid_clear_refs(5).
 * @returns a function that returns the maximum above the initial value, in MB
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

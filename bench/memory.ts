// Memory of a service under measurement.
import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";

/** @returns a function that ends the watch and answers the most that it was above its beginning, in MB */
export function watchMemory(pid: number): () => Promise<number> {
  const end = new AbortController();
  const watched = (async () => {
    const rest = await residentMb(pid);
    let most = rest;
    while (!end.signal.aborted) {
      most = Math.max(most, await residentMb(pid));
      await wait(50);
    }
    return most - rest;
  })();
  return () => {
    end.abort();
    return watched;
  };
}

async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

// Tests that a scan misses no running process, whatever happens meanwhile.
import { describe, expect, test } from "vitest";
import { type Look, scanProcesses } from "./process-scan.ts";

const marked = (pid: number) => ({ found: pid });

/** Scans a fake system: `pids` are running, and `lookAt` returns what a look finds and simulates what happens meanwhile. */
function scan(pids: Set<number>, lookAt: (pid: number) => Look<number>) {
  const looks: number[] = [];
  const found = scanProcesses(
    () => [...pids],
    (pid) => {
      looks.push(pid);
      return lookAt(pid);
    },
  );
  return { found, looks };
}

describe("A scan of all processes", () => {
  test("looks at each process once if none ends meanwhile", () => {
    const { found, looks } = scan(new Set([1, 2, 3]), (pid) => (pid === 2 ? marked(2) : "other"));
    expect(found).toEqual([2]);
    expect(looks).toEqual([1, 2, 3]);
  });

  test("finds a child of a process that ended before it was looked at", () => {
    const pids = new Set([1, 10]);
    const { found, looks } = scan(pids, (pid) => {
      if (pid < 10) return "other";
      if (pid === 14) return marked(pid);
      pids.delete(pid);
      pids.add(pid + 1);
      return "ended";
    });
    expect(found).toEqual([14]);
    // Processes that keep running are looked at once.
    expect(looks).toEqual([1, 10, 11, 12, 13, 14]);
  });

  test("looks again at a process that is starting another program", () => {
    let looks = 0;
    const { found } = scan(new Set([1]), (pid) => ((looks += 1) < 3 ? "changing" : marked(pid)));
    expect(found).toEqual([1]);
  });

  test("looks once at a zombie that nobody reaps", () => {
    expect(scan(new Set([1, 2]), (pid) => (pid === 1 ? "ended" : "other")).looks).toEqual([1, 2]);
  });

  test("ends if a process never becomes readable", () => {
    const { found, looks } = scan(new Set([1, 2]), (pid) => (pid === 1 ? "changing" : marked(2)));
    expect(found).toEqual([2]);
    expect(looks.length).toBeLessThan(100);
  });
});

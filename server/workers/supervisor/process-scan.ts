// Scans all processes of a system while processes start and end.

/**
 * Result of inspecting one process: a match; no match; the process has ended; or it is executing a new program and has no
 * environment yet.
 */
export type Look<Found> = { found: Found } | "other" | "ended" | "changing";

/** Limit for a process that stays "changing", and for a system where processes end all the time. */
const maxRounds = 20;

/**
 * Finds at least one process of each living family of processes, even if each process starts the next one and ends. A process
 * that ended between the listing and its inspection may have started another, so new processes are listed again, until all
 * listed ones were inspected in time.
 * @param list returns the pids of all processes
 */
export function scanProcesses<Found>(
  list: () => readonly number[],
  lookAt: (pid: number) => Look<Found>,
): Found[] {
  const all: Found[] = [];
  const known = new Set<number>();
  for (let round = 0; round < maxRounds; round++) {
    let isComplete = true;
    for (const pid of list()) {
      if (known.has(pid)) continue;
      const look = lookAt(pid);
      if (look === "ended" || look === "changing") isComplete = false;
      // A zombie stays on the list.
      if (look !== "changing") known.add(pid);
      if (typeof look === "object") all.push(look.found);
    }
    if (isComplete) break;
  }
  return all;
}

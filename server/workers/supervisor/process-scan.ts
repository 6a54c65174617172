// Looks at every process of a system while processes start and end.

/**
 * What a look at one process found: what was searched for; nothing of it; that the process has ended; or that it is just
 * becoming another program and shows nothing yet.
 */
export type Look<Found> = { found: Found } | "other" | "ended" | "changing";

/** For a process that stays "changing", and for a system on which others end at every moment. */
const maxRounds = 20;

/**
 * Finds something of every family of processes that lives, even if each of it starts the next one and ends. One that was
 * listed and ended before it was looked at may have started another, so the list is read again for who is new, until
 * everybody on it was looked at in time.
 * @param list the ids of the processes that are there
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

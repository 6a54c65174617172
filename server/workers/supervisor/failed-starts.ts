// Counts a process's failed starts in a row, and says why it is given up when they are too many.
import { giveUpReason } from "./reasons.ts";

export function createFailedStarts() {
  let count = 0;
  let causes = new Set<string>();
  return {
    count: () => count,
    restore(earlier: number) {
      count = earlier;
    },
    /** @returns why the process is given up; null = it may be tried again */
    add(cause: string, retries: number): string | null {
      count += 1;
      causes.add(cause);
      return count > retries ? giveUpReason(cause, count, causes.size === 1) : null;
    },
    forget() {
      count = 0;
      causes = new Set();
    },
  };
}

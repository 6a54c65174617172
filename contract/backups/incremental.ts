// When a run stores a full backup, however small the changes are.
import { keptBy, type KeepRules } from "./keep-rules.ts";

/** Maximum age of a full backup: each later backup stores all changes since then again. */
export const fullKeptDays = 7;
/** Maximum number of stored incremental backups that depend on one full backup. */
export const maxPatches = 30;

const dayMs = 24 * 3_600_000;

type Keeping = { hold: number; keep: KeepRules | null; timeZone: string };

/**
 * Returns the full backup that each run needs or is, by these rules and by what retention has left of the incremental
 * ones.
 * @param runs when they start, oldest first
 */
export function fullsOf(
  runs: readonly Date[],
  { hold, keep, timeZone }: Keeping,
): ReadonlyMap<Date, Date> {
  const fulls = new Map<Date, Date>();
  let full: Date | null = null;
  /** The incremental ones of that full, oldest first. Retention is applied once they may be too many. */
  let patches: { run: Date; index: number }[] = [];
  for (const [index, run] of runs.entries()) {
    if (patches.length >= maxPatches && hold < maxPatches) {
      const moments = patches.map((one) => one.run).toReversed();
      const byRules = keptBy(moments, keep, timeZone);
      const last = patches.length - 1;
      patches = patches.filter((one, at) => one.index >= index - hold || byRules.has(last - at));
    }
    if (
      full === null ||
      patches.length >= maxPatches ||
      run.getTime() - full.getTime() >= fullKeptDays * dayMs
    ) {
      full = run;
      patches = [];
    } else patches.push({ run, index });
    fulls.set(run, full);
  }
  return fulls;
}

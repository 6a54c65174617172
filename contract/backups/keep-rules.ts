// Which backups are kept beyond the newest ones: the newest of each of the last hours, days, weeks, months or years
// that have one. The rules and their names are those of borg, restic and Proxmox Backup Server.
import * as z from "zod/mini";
import { integer } from "../inputs.ts";

export const keepPeriods = ["hourly", "daily", "weekly", "monthly", "yearly"] as const;
type KeepPeriod = (typeof keepPeriods)[number];

const count = z.optional(z.nullable(integer(1, 8760)));

/** Number of periods whose newest backup is kept; absent or null = none for that period. */
export const keepRules = z
  .strictObject({ hourly: count, daily: count, weekly: count, monthly: count, yearly: count })
  .register(z.globalRegistry, { id: "KeepRules" });
export type KeepRules = z.infer<typeof keepRules>;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Formatters by time zone: to make one takes longer than to apply the rules to some backups. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function datesOf(timeZone: string): Intl.DateTimeFormat {
  // "2026-01-31": no other locale has the parts in this order and nothing else.
  const dates =
    formatters.get(timeZone) ?? new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" });
  formatters.set(timeZone, dates);
  return dates;
}

/**
 * @returns a function whose results are equal for moments of the same period, in a time zone; weeks begin on Monday
 * (ISO 8601)
 */
function createPeriodOf(timeZone: string): (period: KeepPeriod, at: Date) => string | number {
  const dates = datesOf(timeZone);
  const known = new Map<number, string>();
  const dateOf = (at: Date): string => {
    // In every time zone, a day begins at a multiple of 15 minutes.
    const quarter = Math.floor(at.getTime() / (hourMs / 4));
    const date = known.get(quarter) ?? dates.format(at);
    known.set(quarter, date);
    return date;
  };
  return (period, at) => {
    switch (period) {
      case "hourly":
        return Math.floor(at.getTime() / hourMs);
      case "daily":
        return dateOf(at);
      case "weekly":
        // 1970 began on a Thursday.
        return Math.floor((Date.parse(dateOf(at)) / dayMs + 3) / 7);
      case "monthly":
        return dateOf(at).slice(0, 7);
      case "yearly":
        return dateOf(at).slice(0, 4);
    }
  };
}

/**
 * @param moments start times of backups, newest first
 * @returns the periods that keep a backup, by the index of each kept backup
 */
export function keptBy(
  moments: readonly Date[],
  rules: KeepRules | null,
  timeZone: string,
): Map<number, KeepPeriod[]> {
  const kept = new Map<number, KeepPeriod[]>();
  if (rules === null) return kept;
  const periodOf = createPeriodOf(timeZone);
  for (const period of keepPeriods) {
    let left = rules[period] ?? 0;
    let last: string | number | null = null;
    for (const [index, at] of moments.entries()) {
      if (left === 0) break;
      const its = periodOf(period, at);
      if (its === last) continue;
      last = its;
      left -= 1;
      kept.set(index, [...(kept.get(index) ?? []), period]);
    }
  }
  return kept;
}

/** @returns the rules that keep anything; null = no rule does */
export function usedRules(rules: KeepRules | null | undefined): KeepRules | null {
  const used = keepPeriods.flatMap((period) => {
    const periods = rules?.[period] ?? 0;
    return periods > 0 ? [[period, periods] as const] : [];
  });
  return used.length === 0 ? null : Object.fromEntries(used);
}

/** @returns e.g. "7 daily, 4 weekly, 12 monthly"; null where no period keeps anything */
export function keepInWords(rules: KeepRules | null | undefined): string | null {
  const used = usedRules(rules);
  if (used === null) return null;
  return Object.entries(used)
    .map(([period, periods]) => `${periods} ${period}`)
    .join(", ");
}

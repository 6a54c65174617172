// Assembles the timeline from responses. Pure; entries are always newest first.
import type { Activity } from "../../contract/activity.ts";

/**
 * Adds newer entries. If there are more than one response holds, there would be a gap, so the older ones are dropped.
 */
export function withNewer(shown: Activity, newer: Activity): Activity {
  if (newer.next !== null) return { ...shown, ...newer };
  const newest = shown.data[0]?.id ?? 0;
  const added = newer.data.filter(({ id }) => id > newest);
  return added.length === 0 ? shown : { ...shown, data: [...added, ...shown.data] };
}

/**
 * Adds older entries.
 * @param before the id with which `older` was requested
 */
export function withOlder(shown: Activity, older: Activity, before: number): Activity {
  // The list was reset since, or has these entries already.
  if (shown.next !== before) return shown;
  return { ...shown, data: [...shown.data, ...older.data], next: older.next };
}

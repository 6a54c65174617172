// What is shown of the timeline, put together from its answers. Pure; entries are newest first throughout.
import type { Activity } from "../../contract/activity.ts";

/** Adds what is newer. More than one answer holds leaves a gap below it, so what was there goes. */
export function withNewer(shown: Activity, newer: Activity): Activity {
  if (newer.next !== null) return { ...shown, ...newer };
  const newest = shown.data[0]?.id ?? 0;
  const added = newer.data.filter(({ id }) => id > newest);
  return added.length === 0 ? shown : { ...shown, data: [...added, ...shown.data] };
}

/**
 * Adds what is older.
 * @param before the key that `older` was asked for with
 */
export function withOlder(shown: Activity, older: Activity, before: number): Activity {
  // The list has begun anew since, or has these entries already.
  if (shown.next !== before) return shown;
  return { ...shown, data: [...shown.data, ...older.data], next: older.next };
}

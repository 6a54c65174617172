// Keeps listings of backups in memory for a while, for the few that are browsed.
import type { Clock } from "../../clock.ts";

type Listing = { id: string; backupId: number };

/** Limit of listings, each of which may take some 100 MB. */
const maxListings = 3;
/** How long an unused listing is kept. */
const keptMs = 15 * 60_000;

/** @param onForget releases the resources of a listing */
export function createKeptListings<Kept extends Listing>(
  clock: Clock,
  onForget: (kept: Kept) => void,
) {
  const listings = new Map<string, { kept: Kept; stopClock(): void }>();

  function forget(kept: Kept): void {
    listings.get(kept.id)?.stopClock();
    if (listings.delete(kept.id)) onForget(kept);
  }

  /** Restarts the time of a listing that is used, and makes it the newest. */
  function touch(kept: Kept): Kept {
    listings.get(kept.id)?.stopClock();
    listings.delete(kept.id);
    listings.set(kept.id, { kept, stopClock: clock.after(keptMs, () => forget(kept)) });
    return kept;
  }

  return {
    /** @param id of an earlier response; absent = any listing of the backup */
    find(backupId: number, id: string | undefined): Kept | null {
      const found = [...listings.values()].findLast(
        ({ kept }) => kept.backupId === backupId && (id === undefined || kept.id === id),
      );
      return found === undefined ? null : touch(found.kept);
    },

    add(kept: Kept): Kept {
      // The oldest first.
      const surplus = Math.max(0, listings.size + 1 - maxListings);
      for (const old of [...listings.values()].slice(0, surplus)) forget(old.kept);
      return touch(kept);
    },

    forget,

    close(): void {
      for (const { kept } of listings.values()) forget(kept);
    },
  };
}

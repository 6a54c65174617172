// Lists objects other than rows in archives of databases: each is read once, and kept in memory for a while for further requests.
import { randomUUID } from "node:crypto";
import type { BrowseObjectsBody } from "../../../contract/backups/bodies.ts";
import type { ArchiveObjects } from "../../../contract/backups/contents.ts";
import type { Clock } from "../../clock.ts";
import { createKeptListings } from "./kept-listings.ts";
import type { ArchiveObject } from "../sources/postgres/archive-objects.ts";

/** Limit of listed objects. */
const maxObjects = 100_000;
const pageObjects = 200;

type Kept = { id: string; backupId: number; objects: Promise<ArchiveObject[]> };

export function createObjectListings(clock: Clock) {
  const listings = createKeptListings<Kept>(clock, () => undefined);

  return {
    find: listings.find,

    begin(backupId: number, read: () => Promise<ArchiveObject[]>): Kept {
      const kept = { id: randomUUID(), backupId, objects: read() };
      kept.objects.catch(() => listings.forget(kept));
      return listings.add(kept);
    },

    /** @throws the error with which reading the archive failed */
    async look(
      kept: Kept,
      { kind = "", search = "", page = 1 }: BrowseObjectsBody,
    ): Promise<ArchiveObjects> {
      const all = await kept.objects;
      const listed = all.slice(0, maxObjects);
      const words = search.toLowerCase();
      const matching = listed.filter(({ name }) => name.toLowerCase().includes(words));
      const counts = new Map<string, number>();
      for (const one of matching) counts.set(one.kind, (counts.get(one.kind) ?? 0) + 1);
      const found = matching
        .filter((one) => kind === "" || one.kind === kind)
        .sort((one, other) => (one.name < other.name ? -1 : 1));
      const from = (page - 1) * pageObjects;
      return {
        listing: kept.id,
        is_complete: all.length <= maxObjects,
        kinds: [...counts]
          .map(([name, count]) => ({ kind: name, count }))
          .sort((one, other) => (one.kind < other.kind ? -1 : 1)),
        total: found.length,
        per_page: pageObjects,
        objects: found.slice(from, from + pageObjects),
      };
    },

    close: listings.close,
  };
}

export type ObjectListings = ReturnType<typeof createObjectListings>;

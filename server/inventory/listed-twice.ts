// Finds storage providers whose change of location would list the same files in two providers.
import type { Connection } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import { storageProviders } from "../store/tables/inventory.ts";
import type { Inventory } from "./schema.ts";
import { placeOf } from "./storage-place.ts";

type ListedTwice = { id: number; field: "path" | "bucket" | "remote"; message: string };

const fields = { local: "path", sftp: "path", s3: "bucket", rclone: "remote" } as const;

/**
 * A provider keeps its backups when its location is changed, so that another provider can adopt their files. If the first one returned
 * to its former location, both would list these files, and deleting a backup of one would delete the file of the other.
 */
export async function listedTwice(db: Connection, inventory: Inventory): Promise<ListedTwice[]> {
  const here = new Set(
    inventory.servers.flatMap(({ id, connection }) => (connection === "local" ? id : [])),
  );
  const stored = await db
    .select({ id: storageProviders.id, entry: storageProviders.entry })
    .from(storageProviders);
  const before = new Map(stored.map(({ id, entry }) => [id, placeOf(entry, here)]));
  const places = inventory.storage_providers.map((one) => ({ ...one, place: placeOf(one, here) }));
  const found: ListedTwice[] = [];
  for (const { id, name, type, place } of places) {
    if (!before.has(id) || before.get(id) === place) continue;
    for (const other of places) {
      const isShared = other.place.startsWith(place) || place.startsWith(other.place);
      if (other.id === id || !isShared) continue;
      const numbers = await twiceIn(db, { id, place }, other);
      if (numbers.length > 0)
        found.push({
          id,
          field: fields[type],
          message: `Storage provider ${id} (${name}) can't be moved here: storage provider ${other.id} (${other.name}) already lists the files of its backups ${numbers.join(", ")}, and deleting one would delete the other. Delete these backups first. That deletes no file here.`,
        });
    }
  }
  return found;
}

/** Maximum number of backups that a message names. */
const shownBackups = 20;

type Place = { id: number; place: string };

/** Returns the ids of a provider's backups whose files another provider lists. */
async function twiceIn(db: Connection, one: Place, other: Place): Promise<number[]> {
  const { rows } = await db.execute<{ id: number }>(sql`
    select distinct own.id from backups own
    join backups same on ${other.place}::text || same.path = ${one.place}::text || own.path
    where own.storage_provider_id = ${one.id} and own.path <> ''
      and same.storage_provider_id = ${other.id} and same.path <> ''
    order by own.id limit ${shownBackups}`);
  return rows.map(({ id }) => id);
}

// Finds storage providers that would get a place in which another one lists the files of their backups, too.
import type { Connection } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import { storageProviders } from "../store/tables.ts";
import type { Inventory } from "./schema.ts";
import { placeOf } from "./storage-place.ts";

type ListedTwice = { id: number; field: "path" | "bucket" | "remote"; message: string };

const fields = { local: "path", sftp: "path", s3: "bucket", rclone: "remote" } as const;

/**
 * Adoption lists no file twice. But a provider whose place was changed keeps its backups, so that another one can adopt their files,
 * and the former place would then list them twice.
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
          message: `Storage provider ${id} (${name}) cannot get this place: storage provider ${other.id} (${other.name}) lists the files of backups ${numbers.join(", ")} of it, too, and deleting one would delete the other. Delete these backups first, which deletes no file in this place.`,
        });
    }
  }
  return found;
}

/** As many as a message names. */
const shownBackups = 20;

type Place = { id: number; place: string };

/** Returns ids of backups of a provider whose files another one would list, too. */
async function twiceIn(db: Connection, one: Place, other: Place): Promise<number[]> {
  const { rows } = await db.execute<{ id: number }>(sql`
    select distinct own.id from backups own
    join backups same on ${other.place}::text || same.path = ${one.place}::text || own.path
    where own.storage_provider_id = ${one.id} and own.path <> ''
      and same.storage_provider_id = ${other.id} and same.path <> ''
    order by own.id limit ${shownBackups}`);
  return rows.map(({ id }) => id);
}

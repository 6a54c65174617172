// Restores one database out of a backup of a whole server.
import type { Readable } from "node:stream";
import { SourceError, type Source } from "../source.ts";
import { readMembers } from "./members.ts";
import { manifestIn } from "./names.ts";

/**
 * @param source the source that the database is restored into
 * @param database its name in the backup
 */
export const createDatabasePart = (source: Source, database: string): Source => ({
  ...source,

  // The content is that of the whole server, which the source's machine cannot read.
  unpacking: async () => null,

  async restore(from, attempt, manifest = null) {
    try {
      await source.restore(await find(from, database), attempt, manifestIn(database, manifest));
    } finally {
      from.destroy();
    }
  },
});

/** @throws SourceError where the backup does not contain the database */
async function find(from: Readable, database: string): Promise<Readable> {
  const members = readMembers(from);
  for (let next = await members.next(); next.done !== true; next = await members.next())
    if (next.value.database === database) return next.value.content;
  throw new SourceError(
    `Nothing was changed: the backup holds no database “${database}”. Choose another one.`,
  );
}

// Reads counts from the manifests of backups: rows by table, or the entries of a folder.
import { z } from "zod/mini";
import type { Database } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import { backupConfigurations, backups } from "../store/tables/backups.ts";
import type { ConfigurationRow } from "./configuration-store.ts";

/** The counts of one backup. */
export type Counted = { id: number; startedAt: Date; isFolder: boolean; counts: Counts };
/** By the name of a table. */
export type Counts = ReadonlyMap<string, number>;

const rowsByTable = z.record(z.string(), z.int().check(z.nonnegative()));
/** Name of the count of a folder. */
const wholeFolder = "Files and folders";

type Row = { id: number; started_at: string; is_folder: boolean; counts: unknown };

export function createCountsStore(db: Database) {
  return {
    /** Returns the newest finished backups of runs that have counts, newest first. */
    async newest(configurationId: number, limit: number): Promise<Counted[]> {
      const { rows } = await db.execute<Row>(sql`
        select id, started_at, manifest ->> 'kind' = 'folder' as is_folder,
          case manifest ->> 'kind' when 'folder' then jsonb_build_object(${wholeFolder}::text, manifest -> 'entries')
            else manifest -> 'tables' end as counts
        from ${backups}
        where configuration_id = ${configurationId} and status = 'finished' and trigger not in ('safety', 'copy')
          and manifest is not null
        order by id desc limit ${limit}`);
      return rows.flatMap(({ id, started_at: at, is_folder: isFolder, counts }) => {
        // The manifest of an adopted backup is untrusted.
        const { data } = rowsByTable.safeParse(counts);
        if (data === undefined) return [];
        return [{ id, startedAt: new Date(at), isFolder, counts: new Map(Object.entries(data)) }];
      });
    },

    /** Whether a restore of any backup into the configuration's source ended after `since`. */
    async isRestoredSince(
      { type, database_id: databaseId, site_id: siteId }: ConfigurationRow,
      since: Date,
    ): Promise<boolean> {
      const { rows } = await db.execute(sql`
        select from ${backups} b join ${backupConfigurations} c on c.id = b.configuration_id
        where b.restored_at >= ${since.toISOString()}::timestamptz and case
          when b.restore_target is null
            then (c.database_id, c.site_id) is not distinct from (${databaseId}::int, ${siteId}::int)
          else b.restore_target @> ${JSON.stringify({ type, id: databaseId ?? siteId, database: null })}::jsonb
        end
        limit 1`);
      return rows.length > 0;
    },
  };
}

export type CountsStore = ReturnType<typeof createCountsStore>;

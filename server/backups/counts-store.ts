// What backups counted, as their manifests have it: rows by table, or the entries of a folder.
import { z } from "zod/mini";
import type { Database } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import { backupConfigurations, backups } from "../store/tables.ts";
import type { ConfigurationRow } from "./configuration-store.ts";

/** Of one backup. */
export type Counted = { id: number; startedAt: Date; isFolder: boolean; counts: Counts };
/** By the name of a table. */
export type Counts = ReadonlyMap<string, number>;

const rowsByTable = z.record(z.string(), z.int().check(z.nonnegative()));
/** The only name that is no table's. */
const wholeFolder = "Files and folders";

type Row = { id: number; started_at: string; is_folder: boolean; counts: unknown };

export function createCountsStore(db: Database) {
  return {
    /** The newest finished backups of runs that have counts, newest first. */
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
        // An adopted one has what somebody wrote into its manifest.
        const { data } = rowsByTable.safeParse(counts);
        if (data === undefined) return [];
        return [{ id, startedAt: new Date(at), isFolder, counts: new Map(Object.entries(data)) }];
      });
    },

    /** Whether a restore into what a configuration backs up ended after a moment, of whichever backup. */
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

// Queries for the recovery page of a storage.
import { expandHome } from "../../inventory/paths.ts";
import type { Leases } from "../../instances/leases.ts";
import type { Connection, Database } from "../../store/database.ts";
import { sql, type SQL } from "../../store/drizzle.ts";
import type { databases, sites } from "../../store/tables/inventory.ts";
import type { Recoverable } from "./recovery-page.ts";
import type { FileOwner, Origin } from "../sources/source.ts";
import { engineOfPath } from "../subject.ts";

type Found = {
  database_id: number | null;
  site_id: number | null;
  backup_id: number;
  is_safety: boolean;
  path: string;
  size: string;
  checksum: string | null;
  base_id: number | null;
  base_path: string | null;
  base_checksum: string | null;
  ended_at: string;
  /** Absent in backups of older versions. */
  origin: Origin | null;
  owner: FileOwner | null;
  database: (typeof databases.$inferSelect)["entry"] | null;
  site: (typeof sites.$inferSelect)["entry"] | null;
  server: string | null;
};

export function createRecoveryStore(db: Database, leases: Pick<Leases, "holdThose">) {
  const whileHeld = (backupId: number, work: (tx: Connection) => Promise<void>): Promise<void> =>
    db.transaction(async (tx) => {
      const { rows } = await tx.execute<{ id: number }>(sql`
        select c.server_id as id from backups b
        join backup_configurations c on c.id = b.configuration_id where b.id = ${backupId}`);
      const ids = rows.map(({ id }) => id);
      if ((await leases.holdThose(tx, ids)).size > 0) await work(tx);
    });

  return {
    providerIds: async (): Promise<number[]> => {
      const { rows } = await db.execute<{ id: number }>(
        sql`select id from storage_providers order by id`,
      );
      return rows.map(({ id }) => id);
    },

    /**
     * Returns the newest good backup in a storage of each database and site.
     * @param latest backups with a later time come from a clock that was ahead, and do not count as newest
     */
    async newestGood(providerId: number, latest: Date): Promise<Recoverable[]> {
      const isAhead = (at: SQL) => sql`${at} > ${latest.toISOString()}::timestamptz`;
      const { rows } = await db.execute<Found>(sql`
        select distinct on (c.database_id, c.site_id) c.database_id, c.site_id,
          b.id as backup_id, b.is_safety, b.path, b.size, b.checksum, b.ended_at,
          b.base_id, base.path as base_path, base.checksum as base_checksum,
          b.origin, b.owner, d.entry as database, s.entry as site, server.entry ->> 'name' as server
        from backup_configurations c
        cross join lateral (
          select id, trigger = 'safety' as is_safety, trigger = 'import' as is_foreign, path, size, checksum, base_id,
            coalesce(taken_at, ended_at) as ended_at,
            manifest -> 'origin' as origin, manifest -> 'file' as owner
          from backups
          where configuration_id = c.id and storage_provider_id = ${providerId}
            and status = 'finished' and damage is null
          order by trigger = 'safety', ${isAhead(sql`coalesce(taken_at, started_at)`)}, coalesce(taken_at, started_at) desc, id desc limit 1
        ) b
        left join backups base on base.id = b.base_id
        left join databases d on d.id = c.database_id
        left join sites s on s.id = c.site_id
        left join servers server on server.id = c.server_id
        where c.status <> 'removing'
        -- What somebody brought here is not how the source stood.
        order by c.database_id, c.site_id, b.is_foreign, b.is_safety, ${isAhead(sql`b.ended_at`)}, b.ended_at desc, b.id desc`);
      return rows.flatMap(toRecoverable);
    },

    /** Adds a warning to a backup, unless another instance has taken over its server. */
    addWarning: (backupId: number, warning: string): Promise<void> =>
      whileHeld(backupId, async (tx) => {
        await tx.execute(sql`
          update backups set warnings = array_append(warnings, ${warning}::text)
          where id = ${backupId} and status = 'finished'`);
      }),

    /** Removes the warning. */
    removeWarning: (backupId: number, warning: string): Promise<void> =>
      whileHeld(backupId, async (tx) => {
        await tx.execute(sql`
          update backups set warnings = array_remove(warnings, ${warning}::text)
          where id = ${backupId} and ${warning}::text = any(warnings)`);
      }),
  };
}

export type RecoveryStore = ReturnType<typeof createRecoveryStore>;

function toRecoverable(row: Found): Recoverable[] {
  const { database, site, origin } = row;
  const common = {
    server: row.server ?? "",
    backupId: row.backup_id,
    isSafety: row.is_safety,
    key: row.path,
    sizeBytes: Number(row.size),
    checksum: row.checksum,
    base:
      row.base_id === null
        ? null
        : { backupId: row.base_id, key: row.base_path ?? "", checksum: row.base_checksum },
    endedAt: new Date(row.ended_at),
    database: origin?.database,
    owner: row.owner ?? undefined,
    tools: origin?.tools ?? {},
  };
  if (database !== null) {
    const path = database.engine === "sqlite" ? expandHome(database.path) : undefined;
    const { name } = database;
    // The backup may be of another scope than the entry has now.
    const engine = engineOfPath(row.path) ?? database.engine;
    return [{ ...common, engine, name, path: origin?.path ?? path }];
  }
  if (site === null) return [];
  return [
    { ...common, engine: "folder", name: site.name, path: origin?.path ?? expandHome(site.root) },
  ];
}

// Queries of fulls and of the backups that need them.
import type { Connection, Database } from "../../store/database.ts";
import { and, asc, eq, inArray, isNull, sql } from "../../store/drizzle.ts";
import { backupConfigurations, backups } from "../../store/tables/backups.ts";
import type { BackupRow } from "../backup-store.ts";
import type { ConfigurationRow } from "../configuration-store.ts";

/** States in which a backup needs its full. A trigger of the table has the same states. */
const needing = ["pending", "running", "finished"] as const;

/** Beginning of the damage of a backup whose full is damaged, by which it is cleared again. */
export const needsDamaged = (baseId: number): string =>
  `Backup ${baseId}, which it needs, is damaged: `;

export function createChainStore(db: Database) {
  return {
    /** Returns the full that a backup needs; null = it needs none, undefined = the full does not exist any more. */
    async baseOf({
      base_id: id,
    }: Pick<BackupRow, "base_id">): Promise<BackupRow | null | undefined> {
      if (id === null) return null;
      const [row] = await db.select().from(backups).where(eq(backups.id, id));
      return row;
    },

    /** Returns the ids of the backups that need a full, oldest first. */
    async needing(tx: Connection, baseId: number): Promise<number[]> {
      const rows = await tx
        .select({ id: backups.id })
        .from(backups)
        .where(and(eq(backups.base_id, baseId), inArray(backups.status, [...needing])))
        .orderBy(asc(backups.id));
      return rows.map(({ id }) => id);
    },

    /** Returns the name of a configuration whose backups need fulls of this one; null = none. */
    async neededElsewhere(tx: Connection, configurationId: number): Promise<string | null> {
      const { rows } = await tx.execute<{ name: string }>(sql`
        select configuration.name from ${backups} needing
        join ${backups} needed on needed.id = needing.base_id
        join ${backupConfigurations} configuration on configuration.id = needing.configuration_id
        where needed.configuration_id = ${configurationId} and needing.configuration_id <> ${configurationId}
          and needing.status in ('pending', 'running', 'finished')
        limit 1`);
      return rows[0]?.name ?? null;
    },

    /** Returns the configuration of a full, which after an adoption may differ from that of the backups that need it. */
    async configurationOf(
      tx: Connection,
      { configuration_id: id }: Pick<BackupRow, "configuration_id">,
    ): Promise<ConfigurationRow> {
      const [row] = await tx
        .select()
        .from(backupConfigurations)
        .where(eq(backupConfigurations.id, id));
      if (row === undefined) throw new Error(`Backup configuration ${id} is gone.`);
      return row;
    },

    /** Stores the path of a run's file and the full that it needs. @returns the new row */
    async setFile(
      tx: Connection,
      row: BackupRow,
      change: Pick<BackupRow, "path" | "base_id">,
    ): Promise<BackupRow> {
      await tx.update(backups).set(change).where(eq(backups.id, row.id));
      return { ...row, ...change };
    },

    /** Marks the backups that need a damaged full as damaged, unless they are already. */
    async setBaseDamage(tx: Connection, baseId: number, damage: string, at: Date): Promise<void> {
      await tx
        .update(backups)
        .set({ damage: needsDamaged(baseId) + damage, checked_at: at })
        .where(
          and(eq(backups.base_id, baseId), eq(backups.status, "finished"), isNull(backups.damage)),
        );
    },

    /**
     * Returns the damage that a backup has because of its full, when it is about to be finished: damage that was found meanwhile was only
     * stored for finished backups. Locks the full, so that damage that is found now is stored for this backup, too.
     */
    async baseDamage(
      tx: Connection,
      { base_id: id }: Pick<BackupRow, "base_id">,
    ): Promise<{ damage?: string }> {
      if (id === null) return {};
      const [base] = await tx
        .select({ damage: backups.damage })
        .from(backups)
        .where(eq(backups.id, id))
        .for("share");
      return base?.damage == null ? {} : { damage: needsDamaged(id) + base.damage };
    },

    /** Extends the lock of a backup's full to that of the backup. */
    async lockBase(
      tx: Connection,
      { base_id: id }: Pick<BackupRow, "base_id">,
      until: Date | null,
    ): Promise<void> {
      if (id === null || until === null) return;
      const later = sql`greatest(${backups.locked_until}, ${until.toISOString()}::timestamptz)`;
      await tx.update(backups).set({ locked_until: later }).where(eq(backups.id, id));
    },

    /** Clears the damage that `setBaseDamage` stored. @returns whether there was any */
    async clearBaseDamage(tx: Connection, baseId: number): Promise<boolean> {
      const rows = await tx
        .update(backups)
        .set({ damage: null })
        .where(
          and(
            eq(backups.base_id, baseId),
            sql`starts_with(${backups.damage}, ${needsDamaged(baseId)})`,
          ),
        )
        .returning({ id: backups.id });
      return rows.length > 0;
    },
  };
}

export type ChainStore = ReturnType<typeof createChainStore>;

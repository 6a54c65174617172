// The rows of fulls and of the backups that need them.
import type { Connection, Database } from "../../store/database.ts";
import { and, asc, eq, inArray, isNull, sql } from "../../store/drizzle.ts";
import { backupConfigurations, backups } from "../../store/tables.ts";
import type { BackupRow } from "../backup-store.ts";
import type { ConfigurationRow } from "../configuration-store.ts";

/** What is being deleted needs nothing any more. A trigger of the table has the same states. */
const needing = ["pending", "running", "finished"] as const;

/** Begins what is noted of a backup whose full is damaged, and is taken back with it. */
export const needsDamaged = (baseId: number): string =>
  `Backup ${baseId}, which it needs, is damaged: `;

export function createChainStore(db: Database) {
  return {
    /** The full that a backup needs; null = none. Undefined = it is gone. */
    async baseOf({
      base_id: id,
    }: Pick<BackupRow, "base_id">): Promise<BackupRow | null | undefined> {
      if (id === null) return null;
      const [row] = await db.select().from(backups).where(eq(backups.id, id));
      return row;
    },

    /** Ids of the backups that need a full, oldest first. */
    async needing(tx: Connection, baseId: number): Promise<number[]> {
      const rows = await tx
        .select({ id: backups.id })
        .from(backups)
        .where(and(eq(backups.base_id, baseId), inArray(backups.status, [...needing])))
        .orderBy(asc(backups.id));
      return rows.map(({ id }) => id);
    },

    /** A configuration with backups that need one of another configuration; null = there is none. */
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

    /** The configuration that a full is listed below; after an adoption it may be another one than that of what needs it. */
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

    /** Where a run stores its file, and which full that needs. @returns the row as it is then */
    async setFile(
      tx: Connection,
      row: BackupRow,
      change: Pick<BackupRow, "path" | "base_id">,
    ): Promise<BackupRow> {
      await tx.update(backups).set(change).where(eq(backups.id, row.id));
      return { ...row, ...change };
    },

    /** The backups that need a full that is damaged are as well, unless they are by themselves. */
    async setBaseDamage(tx: Connection, baseId: number, damage: string, at: Date): Promise<void> {
      await tx
        .update(backups)
        .set({ damage: needsDamaged(baseId) + damage, checked_at: at })
        .where(
          and(eq(backups.base_id, baseId), eq(backups.status, "finished"), isNull(backups.damage)),
        );
    },

    /**
     * What a backup that is about to be finished has of its full. What was found of that meanwhile was noted at finished ones alone.
     * The full is held, so that whoever finds it damaged just now finds this one finished.
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

    /** Notes that the full of a backup is locked for as long as that one is. */
    async lockBase(
      tx: Connection,
      { base_id: id }: Pick<BackupRow, "base_id">,
      until: Date | null,
    ): Promise<void> {
      if (id === null || until === null) return;
      const later = sql`greatest(${backups.locked_until}, ${until.toISOString()}::timestamptz)`;
      await tx.update(backups).set({ locked_until: later }).where(eq(backups.id, id));
    },

    /** Takes that back. @returns whether there was something to be taken back */
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

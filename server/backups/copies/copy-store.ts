// Queries of copies: which runs have copies where, and which are missing.
import type { BackupState } from "../../../contract/backups/backup.ts";
import { backupTaskQueue } from "../../jobs/job-data.ts";
import type { Connection, Database } from "../../store/database.ts";
import { and, eq, inArray, isNull, notBetween, or, sql } from "../../store/drizzle.ts";
import { insertedRow } from "../../store/rows.ts";
import {
  backupConfigurations as configurations,
  backups,
  newestBackups,
} from "../../store/tables/backups.ts";
import type { BackupRow } from "../backup-store.ts";
import { copyTargetOf, isCopyMissing, missingCopy, type MissingCopy } from "./copy-missing.ts";
import { isNotOn } from "../configuration-store.ts";
import type { LookedAt } from "../schedule/due-store.ts";

/** A stored backup with the same content as another one. */
type Twin = { id: number; storage: string };
export type CopyOfRun = {
  id: number;
  copy_of_id: number;
  storage_provider_id: number;
  status: BackupState;
  is_damaged: boolean;
};

const isInTransit = inArray(backups.status, ["pending", "running"]);

export function createCopyStore(db: Database) {
  return {
    /** Inserts a pending copy. */
    async insert(
      tx: Connection,
      run: Pick<BackupRow, "id" | "configuration_id" | "started_at">,
      providerId: number,
      at: Date,
    ): Promise<BackupRow> {
      const values = {
        configuration_id: run.configuration_id,
        storage_provider_id: providerId,
        trigger: "copy",
        status: "pending",
        copy_of_id: run.id,
        taken_at: run.started_at,
        started_at: at,
      } as const;
      return insertedRow(await tx.insert(backups).values(values).returning());
    },

    /** Returns the newest copy of each run in each storage. */
    async ofRuns(ids: readonly number[]): Promise<CopyOfRun[]> {
      if (ids.length === 0) return [];
      const { rows } = await db.execute<CopyOfRun>(sql`
        select distinct on (copy_of_id, storage_provider_id) id, copy_of_id, storage_provider_id, status,
          damage is not null as is_damaged
        from ${backups} where copy_of_id = any(${sql.param([...ids])}::int[])
        order by copy_of_id, storage_provider_id, id desc`);
      return rows;
    },

    /** Returns the copy of a run that is, or will be, in a storage. */
    async there(tx: Connection, runId: number, providerId: number): Promise<BackupRow | null> {
      const [row] = await tx
        .select()
        .from(backups)
        .where(
          and(
            eq(backups.copy_of_id, runId),
            eq(backups.storage_provider_id, providerId),
            or(isInTransit, and(eq(backups.status, "finished"), isNull(backups.damage))),
          ),
        )
        .limit(1);
      return row ?? null;
    },

    /** Returns good backups with the same content: the run of a copy, and the other copies. */
    async twinsOf({
      id,
      copy_of_id: runId,
    }: Pick<BackupRow, "id" | "copy_of_id">): Promise<Twin[]> {
      const of = runId ?? id;
      const { rows } = await db.execute<Twin>(sql`
        select b.id, p.name as storage from backups b join storage_providers p on p.id = b.storage_provider_id
        where (b.id = ${of} or b.copy_of_id = ${of}) and b.id <> ${id} and b.status = 'finished' and b.damage is null
        order by b.id`);
      return rows;
    },

    /** Returns the missing copy of each configuration's newest good backup; configurations without one are absent. */
    async missing(configurationIds: readonly number[]): Promise<Map<number, MissingCopy>> {
      if (configurationIds.length === 0) return new Map();
      const { rows } = await db.execute<{ id: number; missing: MissingCopy }>(sql`
        select c.id, ${missingCopy(sql`c`, sql`newest`)} as missing
        from backup_configurations c join newest_backups newest on newest.configuration_id = c.id
        where c.id = any(${sql.param([...configurationIds])}::int[]) and ${isCopyMissing(sql`c`, sql`newest`)}`);
      return new Map(rows.map(({ id, missing }) => [id, missing]));
    },

    /** Returns the newest good run of each configuration whose copy is missing, unless it is being copied. */
    async runsMissing(
      tx: Connection,
      configurationIds: readonly number[],
    ): Promise<{ run: BackupRow; providerId: number }[]> {
      return tx
        .select({
          run: backups,
          providerId: copyTargetOf(sql`${configurations}`, sql`${backups.storage_provider_id}`),
        })
        .from(configurations)
        .innerJoin(newestBackups, eq(newestBackups.configuration_id, configurations.id))
        .innerJoin(backups, eq(backups.id, newestBackups.good_id))
        .where(
          and(
            inArray(configurations.id, [...configurationIds]),
            isCopyMissing(sql`${configurations}`, sql`${newestBackups}`),
            sql`not exists (select from backups copy where copy.copy_of_id = ${backups.id} and copy.status in ('pending', 'running'))`,
          ),
        );
    },

    /** Returns pending copies without a job: an earlier version ended the job without doing anything. */
    withoutJob: (): Promise<BackupRow[]> =>
      db
        .select()
        .from(backups)
        .where(
          and(
            eq(backups.status, "pending"),
            eq(backups.trigger, "copy"),
            sql`not exists (select from pgboss.job j where j.name = ${backupTaskQueue}
              and j.state in ('created', 'retry', 'active') and (j.data ->> 'backup_id')::int = ${backups.id})`,
          ),
        ),

    /** Returns runs that wait for a copy without a task. */
    abandoned: (): Promise<BackupRow[]> =>
      db
        .select()
        .from(backups)
        .where(
          and(
            eq(backups.status, "running"),
            sql`${backups.ended_at} is not null`,
            sql`not exists (select from backups copy where copy.copy_of_id = ${backups.id} and copy.status in ('pending', 'running'))`,
          ),
        ),

    /** Returns the newest finished copy of each configuration that was not verified within a period. @param elsewhere servers to ignore */
    async unverified(
      { since, until }: LookedAt,
      elsewhere: readonly number[],
    ): Promise<BackupRow[]> {
      const newest = db
        .selectDistinctOn([backups.configuration_id], { id: backups.id })
        .from(backups)
        .where(and(eq(backups.trigger, "copy"), eq(backups.status, "finished")))
        .orderBy(backups.configuration_id, sql`${backups.id} desc`);
      const rows = await db
        .select({ backup: backups })
        .from(backups)
        .innerJoin(configurations, eq(configurations.id, backups.configuration_id))
        .where(
          and(
            inArray(backups.id, newest),
            notBetween(
              sql`coalesce(${backups.checked_at}, ${backups.verified_at}, ${backups.ended_at})`,
              since,
              until,
            ),
            isNotOn(elsewhere),
          ),
        );
      return rows.map(({ backup }) => backup);
    },
  };
}

export type CopyStore = ReturnType<typeof createCopyStore>;

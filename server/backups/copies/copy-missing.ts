// SQL that finds configurations without a copy of their newest good backup.
import { sql, type SQL } from "../../store/drizzle.ts";

/** SQL for the storage of a run's copy, like `copyTarget`. @param run id of the run's storage */
export const copyTargetOf = (c: SQL, run: SQL): SQL<number> =>
  sql`case when ${run} = ${c}.copy_storage_provider_id then ${c}.storage_provider_id else ${c}.copy_storage_provider_id end`;

const goodTarget = (c: SQL, newest: SQL): SQL =>
  sql`(${copyTargetOf(c, sql`(select storage_provider_id from backups where id = ${newest}.good_id)`)})`;

/** SQL: whether the newest good backup of a configuration is missing in one of its storages; null = nothing can be missing. */
export const isCopyMissing = (
  c: SQL,
  newest: SQL,
): SQL => sql`(${c}.copy_storage_provider_id is not null
  and ${newest}.good_id > coalesce((${newest}.copied -> ${goodTarget(c, newest)}::text ->> 'run')::int, 0))`;

/** SQL for the storage without a copy, and since when, in seconds since 1970; null = none is missing. */
export const missingCopy = (c: SQL, newest: SQL): SQL => sql`case when ${isCopyMissing(c, newest)}
  then json_build_object(
    'storage', (select name from storage_providers where id = ${goodTarget(c, newest)}),
    'since', coalesce((${newest}.copied -> ${goodTarget(c, newest)}::text ->> 'since')::float8,
      extract(epoch from ${newest}.good_ended_at)::float8))
  end`;
export type MissingCopy = { storage: string; since: number };

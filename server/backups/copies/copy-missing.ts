// Which configurations lack a copy of their newest good backup, in SQL.
import { sql, type SQL } from "../../store/drizzle.ts";

/** Where the copy of a run belongs, as `copyTarget` has it. @param run its storage's id */
export const copyTargetOf = (c: SQL, run: SQL): SQL<number> =>
  sql`case when ${run} = ${c}.copy_storage_provider_id then ${c}.storage_provider_id else ${c}.copy_storage_provider_id end`;

const goodTarget = (c: SQL, newest: SQL): SQL =>
  sql`(${copyTargetOf(c, sql`(select storage_provider_id from backups where id = ${newest}.good_id)`)})`;

/** Whether the newest good backup of a configuration is not in both of its storages. Null: nothing is to be missed. */
export const isCopyMissing = (
  c: SQL,
  newest: SQL,
): SQL => sql`(${c}.copy_storage_provider_id is not null
  and ${newest}.good_id > coalesce((${newest}.copied -> ${goodTarget(c, newest)}::text ->> 'run')::int, 0))`;

/** What is missing where and since when, in seconds since 1970; null = nothing is. */
export const missingCopy = (c: SQL, newest: SQL): SQL => sql`case when ${isCopyMissing(c, newest)}
  then json_build_object(
    'storage', (select name from storage_providers where id = ${goodTarget(c, newest)}),
    'since', coalesce((${newest}.copied -> ${goodTarget(c, newest)}::text ->> 'since')::float8,
      extract(epoch from ${newest}.good_ended_at)::float8))
  end`;
export type MissingCopy = { storage: string; since: number };

// Which configurations lack a copy of their newest good backup, in SQL.
import { sql, type SQL } from "../store/drizzle.ts";

/** Whether the newest good backup of a configuration has no good copy where it should. Null: nothing is to be missed. */
export const isCopyMissing = (
  c: SQL,
  newest: SQL,
): SQL => sql`(${c}.copy_storage_provider_id is not null
  and ${newest}.good_id > coalesce((${newest}.copied -> ${c}.copy_storage_provider_id::text ->> 'run')::int, 0))`;

/** What is missing there and since when, in seconds since 1970; null = nothing is. */
export const missingCopy = (c: SQL, newest: SQL): SQL => sql`case when ${isCopyMissing(c, newest)}
  then json_build_object(
    'storage', (select name from storage_providers where id = ${c}.copy_storage_provider_id),
    'since', coalesce((${newest}.copied -> ${c}.copy_storage_provider_id::text ->> 'since')::float8,
      extract(epoch from ${newest}.good_ended_at)::float8))
  end`;
export type MissingCopy = { storage: string; since: number };

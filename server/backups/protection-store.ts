// Reads the data that determines protection, for all configurations at once, for the metrics and the overview.
import type { BackupConfigurationState } from "../../contract/backups/backup.ts";
import { protectionOf, type Protection } from "../../contract/backups/protection.ts";
import { toTimestamp } from "../../contract/values.ts";
import { isCopyMissing, missingCopy, type MissingCopy } from "./copies/copy-missing.ts";
import { warningsOf } from "./configuration-warnings.ts";
import type { Visible } from "../events/visible-messages.ts";
import type { Connection, Database } from "../store/database.ts";
import { sql, type SQL as Sql } from "../store/drizzle.ts";
import { executePrepared } from "../store/prepared.ts";
import type { DecidingRun } from "../store/tables/backups.ts";

// Times are in seconds since 1970.
export type ProtectedConfiguration = {
  id: number;
  name: string;
  server_id: number;
  server: string;
  site_id: number | null;
  database_id: number | null;
  time_zone: string;
  status: BackupConfigurationState;
  status_reason: string | null;
  install_warnings: string[];
  status_since: number | null;
  frequency: string;
  drill: number | null;
  next_run: number | null;
  missed_since: number | null;
  copy_missing: MissingCopy | null;
  proven: number | null;
  failed_drill: { backup_id: number; at: number } | null;
  good_id: number | null;
  good_at: number | null;
  good_size: number | null;
  good_plain_size: number | null;
  good_seconds: number | null;
  /** Null if the good run is the newest one, which is sufficient. */
  deciding: DecidingRun[] | null;
  /** When the oldest of the newest backups ended. */
  oldest_ended: number | null;
};

/** Converts `since` to a timestamp. */
export const toMissing = (missing: MissingCopy | null) =>
  missing && { ...missing, since: toTimestamp(new Date(missing.since * 1000)) };

const secondsToTimestamp = (seconds: number | null) =>
  seconds === null ? null : toTimestamp(new Date(seconds * 1000));

const isMissing = isCopyMissing(sql`c`, sql`newest`);

/** Excludes configurations of adopted backups: they make no new backups, so they protect nothing. */
const makesBackups = sql`c.adopted_at is null`;

/**
 * The condition that the source of a configuration has other configurations than those of adopted backups. Few are adopted, so the
 * query excludes these: checking `adopted_at` of every row would make the statement a third slower, because the index that it reads
 * lacks that column.
 */
const isBackedUp = (column: Sql, name: Sql) => sql`(
  ${column} not in (select ${name} from backup_configurations where adopted_at is not null and ${name} is not null)
  or exists (select from backup_configurations own
    where own.${name} = ${column} and own.adopted_at is null and own.status <> 'removing'))`;

/** The condition that a configuration is on a visible server. */
const isVisible = (visible: Visible) =>
  visible === null ? sql`true` : sql`c.server_id = any(${sql.param([...visible])}::int[])`;

/**
 * The condition that a configuration has no problem: the good run is the newest, nothing is late, and there is no warning.
 * `protectionOf` gives the same result for all of these, so they are not judged one by one.
 */
const isWell = (
  now: Date,
) => sql`(c.status = 'installed' and c.missed_since is null and c.install_warnings = '{}'
  and newest.good_id is not null and newest.runs is null and ${isMissing} is not true
  and (c.failed_drill_id is null or c.drill is null and c.failed_drill_id < newest.good_id)
  and (c.drill is null or coalesce(c.last_proven_at, newest.oldest_ended_at)
    > ${now.toISOString()}::timestamptz - c.drill * interval '24 hours')) is true`;

/**
 * Selects the configurations that may have a problem, from each table alone: joining both for all rows takes several times as long.
 * A configuration without backups may have no row in `newest_backups`.
 */
const mayBeUnwell = (now: Date) => sql`
  select c.id from backup_configurations c
  where c.status <> 'installed' or c.missed_since is not null or c.install_warnings <> '{}' or c.failed_drill_id is not null or (c.drill is not null
    and (c.last_proven_at is null or c.last_proven_at <= ${now.toISOString()}::timestamptz - c.drill * interval '24 hours'))
  union all
  select configuration_id from newest_backups where good_id is null or runs is not null
  union all
  select c.id from backup_configurations c join newest_backups newest on newest.configuration_id = c.id where ${isMissing}
  union all
  select c.id from backup_configurations c
  where (select count(*) from newest_backups) < (select count(*) from backup_configurations)
    and not exists (select from newest_backups newest where newest.configuration_id = c.id)`;

type Judgeable = {
  /** Number of all configurations, with and without problems. */
  total: number;
  /** Configurations that may have a problem, ordered by id. */
  unwell: ProtectedConfiguration[];
  /** Ids of all backed-up sources. `other_…`: those that a configuration of `unwell` and another one without problems back up. */
  sites: number[];
  databases: number[];
  other_sites: number[];
  other_databases: number[];
  /** The next run of any schedule of each server, in milliseconds since 1970. */
  next_runs: [serverId: number, ms: number][];
};

/** Reads everything in one statement, so that the result is consistent. @param visible servers; null = all */
export async function readJudgeable(
  db: Pick<Database, "$client">,
  visible: Visible,
  now: Date,
): Promise<Judgeable> {
  const configured = (column: Sql, name: Sql) => sql`
    (select coalesce(json_agg(id), '[]') from (
      select distinct ${column} as id from backup_configurations c
      where ${column} is not null and c.status <> 'removing' and ${isBackedUp(column, name)} and ${isVisible(visible)}
    ) configured)`;
  const others = (column: Sql, name: Sql) => sql`
    (select coalesce(json_agg(distinct ${column}), '[]') from backup_configurations c
      where ${column} = any (array(select ${name} from unwell)) and c.status <> 'removing' and ${makesBackups} and ${isVisible(visible)}
        and c.id not in (select id from unwell))`;
  const [row] = await executePrepared<Judgeable>(
    db,
    "overview_backups",
    sql`
    with unwell as materialized (
      select ${columns} from ${source}
      where ${visible === null ? sql`c.id = any (array(${mayBeUnwell(now)}))` : isVisible(visible)} and c.status <> 'removing' and ${makesBackups}
        and not ${isWell(now)}
    ), of_server as materialized (
      select server_id, count(*) as many, extract(epoch from min(next_run_at))::float8 * 1000 as ms
      from backup_configurations c where c.status <> 'removing' and ${isVisible(visible)} group by server_id
    )
    select (select coalesce(sum(many), 0) from of_server)::int - (
        select count(*) from backup_configurations c
        where c.adopted_at is not null and c.status <> 'removing' and ${isVisible(visible)}
      )::int as total,
      (select coalesce(json_agg(json_build_array(server_id, ms)), '[]') from of_server where ms is not null) as next_runs,
      (select coalesce(json_agg(unwell order by id), '[]') from unwell) as unwell,
      ${configured(sql`c.site_id`, sql`site_id`)} as sites, ${configured(sql`c.database_id`, sql`database_id`)} as databases,
      ${others(sql`c.site_id`, sql`site_id`)} as other_sites, ${others(sql`c.database_id`, sql`database_id`)} as other_databases`,
  );
  if (row === undefined) throw new Error("A count has no row.");
  return row;
}

const columns = sql`c.id, c.name, c.server_id, s.name as server, c.site_id, c.database_id,
  coalesce(s.entry ->> 'time_zone', 'UTC') as time_zone,
  ${missingCopy(sql`c`, sql`newest`)} as copy_missing,
  c.status, c.status_reason, c.install_warnings, c.frequency, c.drill,
  extract(epoch from c.status_since)::float8 as status_since,
  extract(epoch from c.next_run_at)::float8 as next_run,
  extract(epoch from c.missed_since)::float8 as missed_since,
  extract(epoch from c.last_proven_at)::float8 as proven,
  case when c.failed_drill_id is not null then json_build_object(
    'backup_id', c.failed_drill_id, 'at', extract(epoch from c.failed_drill_at)::float8) end as failed_drill,
  newest.good_id, extract(epoch from newest.good_ended_at)::float8 as good_at,
  newest.good_size::float8 as good_size, newest.good_plain_size::float8 as good_plain_size,
  extract(epoch from newest.good_ended_at - newest.good_started_at)::float8 as good_seconds,
  newest.runs as deciding, extract(epoch from newest.oldest_ended_at)::float8 as oldest_ended`;
const source = sql`backup_configurations c join servers s on s.id = c.server_id
  left join newest_backups newest on newest.configuration_id = c.id`;

/** @param visible servers; null = all */
export async function readConfigurations(
  db: Pick<Connection, "execute">,
  visible: Visible,
): Promise<ProtectedConfiguration[]> {
  const { rows } = await db.execute<ProtectedConfiguration>(sql`
    select ${columns} from ${source} where c.status <> 'removing' and ${makesBackups} and ${isVisible(visible)} order by c.id`);
  return rows;
}

/** Returns the newest runs of a configuration that determine its protection, newest first. */
export function decidingRuns({
  deciding,
  good_id,
  good_at,
}: ProtectedConfiguration): DecidingRun[] {
  if (deciding !== null) return deciding;
  if (good_id === null) return [];
  const good = { trigger: "schedule", status: "finished", damage: null, reason: null } as const;
  return [{ id: good_id, ended: good_at, warnings: [], ...good }];
}

/** @param nowMs milliseconds since 1970 */
export function protectionByRuns(
  configuration: ProtectedConfiguration,
  runs: readonly DecidingRun[],
  nowMs: number,
): Pick<Protection, "state" | "reason" | "warning"> {
  // The end of a backup only matters for the next drill, which `last_proven_at` below already covers.
  const backups = runs.map((run) => ({ ...run, ended_at: null }));
  const {
    status,
    drill,
    missed_since: missed,
    good_at: goodAt,
    copy_missing,
    failed_drill: failed,
  } = configuration;
  // If no backup was ever proven, the interval counts from the oldest backup.
  const proven = drill === null ? null : (configuration.proven ?? configuration.oldest_ended);
  return protectionOf(
    {
      status,
      drill,
      backups,
      last_backup: backups[0] ?? null,
      missed_since: secondsToTimestamp(missed),
      copy_missing: toMissing(copy_missing),
      last_proven_at: secondsToTimestamp(proven),
      failed_drill: failed && { ...failed, at: toTimestamp(new Date(failed.at * 1000)) },
      last_finished_at: secondsToTimestamp(goodAt),
      warnings: warningsOf(configuration, runs),
    },
    nowMs,
  );
}

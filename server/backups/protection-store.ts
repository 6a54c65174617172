// Reads what decides on protection, for all configurations at once: the metrics and the overview ask for it.
import type {
  BackupConfigurationState,
  BackupState,
  BackupTrigger,
} from "../../contract/backups/backup.ts";
import { protectionOf, type Protection } from "../../contract/backups/protection.ts";
import { toTimestamp } from "../../contract/values.ts";
import { warningsOf } from "./configuration-warnings.ts";
import type { Visible } from "../events/visible-messages.ts";
import type { Connection } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";

/** Runs that decide on protection; as many as a list of the interface shows. */
const runsRead = 10;

// Moments are seconds since 1970.
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
  proven: number | null;
  good_at: number | null;
  good_size: number | null;
  good_plain_size: number | null;
  good_seconds: number | null;
};

export type ProtectingRun = {
  id: number;
  status: BackupState;
  trigger: BackupTrigger;
  damage: string | null;
  reason: string | null;
  warnings: string[];
  ended: number | null;
};

const secondsToTimestamp = (seconds: number | null) =>
  seconds === null ? null : toTimestamp(new Date(seconds * 1000));

/** The condition that a configuration is on a server that may be seen. */
const isVisible = (visible: Visible) =>
  visible === null ? sql`true` : sql`c.server_id = any(${sql.param([...visible])}::int[])`;

/** @param visible servers; null = all */
export async function readConfigurations(
  db: Pick<Connection, "execute">,
  visible: Visible,
): Promise<ProtectedConfiguration[]> {
  const { rows } = await db.execute<ProtectedConfiguration>(sql`
    select c.id, c.name, c.server_id, s.name as server, c.site_id, c.database_id,
      coalesce(s.entry ->> 'time_zone', 'UTC') as time_zone,
      c.status, c.status_reason, c.install_warnings, c.frequency, c.drill,
      extract(epoch from c.status_since)::float8 as status_since,
      extract(epoch from c.next_run_at)::float8 as next_run,
      extract(epoch from c.missed_since)::float8 as missed_since,
      extract(epoch from c.last_proven_at)::float8 as proven,
      extract(epoch from good.ended_at)::float8 as good_at, good.size::float8 as good_size,
      good.plain_size::float8 as good_plain_size,
      extract(epoch from good.ended_at - good.started_at)::float8 as good_seconds
    from backup_configurations c
    join servers s on s.id = c.server_id
    left join lateral (
      select started_at, ended_at, size, plain_size from backups
      where configuration_id = c.id and status = 'finished' and damage is null
        and trigger <> 'safety'
      order by id desc limit 1
    ) good on true
    where c.status <> 'removing' and ${isVisible(visible)} order by c.id`);
  return rows;
}

/** The newest runs of each configuration, newest first. */
export async function readRuns(
  db: Pick<Connection, "execute">,
  visible: Visible,
): Promise<Map<number, ProtectingRun[]>> {
  const { rows } = await db.execute<ProtectingRun & { configuration_id: number }>(sql`
    select runs.* from backup_configurations c, lateral (
      select id, configuration_id, status, trigger, damage, status_reason as reason, warnings,
        extract(epoch from ended_at)::float8 as ended
      from backups where configuration_id = c.id order by id desc limit ${runsRead}
    ) runs where ${isVisible(visible)}`);
  return Map.groupBy(rows, ({ configuration_id: id }) => id);
}

/** @param nowMs milliseconds since 1970 */
export function protectionByRuns(
  configuration: ProtectedConfiguration,
  runs: readonly ProtectingRun[],
  nowMs: number,
): Pick<Protection, "state" | "reason" | "warning"> {
  const backups = runs.map(({ ended, ...run }) => ({
    ...run,
    ended_at: secondsToTimestamp(ended),
  }));
  const { status, drill, missed_since: missed, proven, good_at: goodAt } = configuration;
  return protectionOf(
    {
      status,
      drill,
      backups,
      last_backup: backups[0] ?? null,
      missed_since: secondsToTimestamp(missed),
      last_proven_at: secondsToTimestamp(proven),
      last_finished_at: secondsToTimestamp(goodAt),
      warnings: warningsOf(configuration, runs),
    },
    nowMs,
  );
}

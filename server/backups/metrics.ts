// Metrics of protection: for each configuration how old its newest good copy is, and how old it may be.
import type {
  BackupConfigurationState,
  BackupState,
  BackupTrigger,
} from "../../contract/backups/backup.ts";
import { protectionOf, protectionStates } from "../../contract/backups/protection.ts";
import { expectedGapMs } from "../../contract/backups/schedule.ts";
import { toTimestamp } from "../../contract/values.ts";
import type { Clock } from "../clock.ts";
import type { Metric, Labels, MetricsPart } from "../metrics/part.ts";
import type { Connection } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";

/** Runs that decide on protection; as many as a list of the interface shows. */
const runsRead = 10;

// Moments are seconds since 1970.
type Configuration = {
  id: number;
  name: string;
  server: string;
  time_zone: string;
  status: BackupConfigurationState;
  frequency: string;
  drill: number | null;
  next_run: number | null;
  missed_since: number | null;
  proven: number | null;
  good_at: number | null;
  good_size: number | null;
  good_seconds: number | null;
};
type Run = {
  id: number;
  status: BackupState;
  trigger: BackupTrigger;
  damage: string | null;
  ended: number | null;
};

const secondsToTimestamp = (seconds: number | null) =>
  seconds === null ? null : toTimestamp(new Date(seconds * 1000));

async function readConfigurations(tx: Connection): Promise<Configuration[]> {
  const { rows } = await tx.execute<Configuration>(sql`
    select c.id, c.name, s.name as server, coalesce(s.entry ->> 'time_zone', 'UTC') as time_zone,
      c.status, c.frequency, c.drill,
      extract(epoch from c.next_run_at)::float8 as next_run,
      extract(epoch from c.missed_since)::float8 as missed_since,
      extract(epoch from c.last_proven_at)::float8 as proven,
      extract(epoch from good.ended_at)::float8 as good_at, good.size::float8 as good_size,
      extract(epoch from good.ended_at - good.started_at)::float8 as good_seconds
    from backup_configurations c
    join servers s on s.id = c.server_id
    left join lateral (
      select started_at, ended_at, size from backups
      where configuration_id = c.id and status = 'finished' and damage is null
        and trigger <> 'safety'
      order by id desc limit 1
    ) good on true
    where c.status <> 'removing' order by c.id`);
  return rows;
}

/** The newest runs of each configuration, newest first. */
async function readRuns(tx: Connection): Promise<Map<number, Run[]>> {
  const { rows } = await tx.execute<Run & { configuration_id: number }>(sql`
    select runs.* from backup_configurations c, lateral (
      select id, configuration_id, status, trigger, damage, extract(epoch from ended_at)::float8 as ended
      from backups where configuration_id = c.id order by id desc limit ${runsRead}
    ) runs`);
  return Map.groupBy(rows, ({ configuration_id: id }) => id);
}

const protectionStateOf = (configuration: Configuration, runs: readonly Run[], nowMs: number) => {
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
    },
    nowMs,
  ).state;
};

/** What a gap was worked out for is the same until the next run; a few thousand calendars cost a scrape a second. */
function createGaps() {
  let known = new Map<string, number>();
  return (configurations: readonly Configuration[]): ((of: Configuration) => number | null) => {
    const gaps = new Map<string, number>();
    const keyOf = ({ frequency, time_zone: zone, next_run: next }: Configuration) =>
      `${frequency} ${zone} ${next}`;
    for (const one of configurations) {
      if (one.next_run === null) continue;
      const key = keyOf(one);
      const due = new Date(one.next_run * 1000);
      gaps.set(key, known.get(key) ?? expectedGapMs(one.frequency, one.time_zone, due));
    }
    known = gaps;
    return (of) => gaps.get(keyOf(of)) ?? null;
  };
}

export function backupMetrics(clock: Clock): MetricsPart {
  const gapsOf = createGaps();
  return {
    name: "backups",
    async read(tx) {
      const configurations = await readConfigurations(tx);
      const runs = await readRuns(tx);
      const nowMs = clock.now();
      const gapMs = gapsOf(configurations);

      const labelsOf = ({ id, name, server }: Configuration): Labels => ({
        configuration_id: String(id),
        configuration: name,
        server,
      });
      const ofEach = (
        name: string,
        help: string,
        valueOf: (configuration: Configuration) => number | null,
      ): Metric => ({
        name: `quarterdeck_backup_${name}`,
        help,
        values: configurations.flatMap((one) => {
          const value = valueOf(one);
          return value === null ? [] : [{ labels: labelsOf(one), value }];
        }),
      });

      return [
        ofEach(
          "last_success_timestamp_seconds",
          "End of the newest good backup; missing = there is none.",
          ({ good_at: at }) => at,
        ),
        ofEach("last_success_age_seconds", "Age of the newest good backup.", ({ good_at: at }) =>
          at === null ? null : Math.max(0, nowMs / 1000 - at),
        ),
        ofEach(
          "last_success_duration_seconds",
          "How long the newest good backup took.",
          ({ good_seconds: seconds }) => seconds,
        ),
        ofEach(
          "last_success_size_bytes",
          "Size of the newest good backup as stored.",
          ({ good_size: size }) => size,
        ),
        ofEach(
          "next_run_timestamp_seconds",
          "When the schedule comes next; missing = it is not in force.",
          ({ next_run: next }) => next,
        ),
        ofEach("interval_seconds", "Time between two runs of the schedule, around now.", (one) => {
          const ms = gapMs(one);
          return ms === null ? null : ms / 1000;
        }),
        ofEach("overdue", "Whether a run is overdue.", ({ missed_since: since }) =>
          since === null ? 0 : 1,
        ),
        ofEach(
          "last_proven_timestamp_seconds",
          "When a drill last proved a backup restorable; missing = never.",
          ({ proven }) => proven,
        ),
        {
          name: "quarterdeck_backup_protection",
          help: "1 for the state that the configuration is in, 0 for the others.",
          values: configurations.flatMap((one) => {
            const state = protectionStateOf(one, runs.get(one.id) ?? [], nowMs);
            return protectionStates.map((known) => ({
              labels: { ...labelsOf(one), state: known },
              value: known === state ? 1 : 0,
            }));
          }),
        },
      ];
    },
  };
}

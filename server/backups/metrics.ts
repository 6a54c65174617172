// Metrics of backups: outcomes of runs, and for each configuration the age of its newest good backup and the allowed age.
import { Counter, Histogram, type Registry } from "prom-client";
import {
  backupTriggers,
  protectionStates,
  type BackupTrigger,
} from "../../contract/backups/backup.ts";
import { countingFailedDrill } from "../../contract/backups/protection.ts";
import { expectedGapMs } from "../../contract/backups/schedule.ts";
import type { Clock } from "../clock.ts";
import type { Metric, Labels, MetricsPart } from "../metrics/part.ts";
import {
  decidingRuns,
  protectionByRuns,
  readConfigurations,
  type ProtectedConfiguration as Configuration,
} from "./protection-store.ts";

export type BackupCounts = {
  /** Counts a run that has ended. @param sizeBytes as stored; 0 for a failed run */
  ran(run: {
    trigger: BackupTrigger;
    outcome: "finished" | "failed";
    durationMs: number;
    sizeBytes: number;
  }): void;
};

const outcomes = ["finished", "failed"] as const;

export function createBackupCounts(registry: Registry): BackupCounts {
  const registers = [registry];
  const runs = new Counter({
    name: "quarterdeck_backup_runs_total",
    help: "Runs of backups that came to their end.",
    labelNames: ["outcome", "trigger"],
    registers,
  });
  const durations = new Histogram({
    name: "quarterdeck_backup_run_duration_seconds",
    help: "How long runs took.",
    labelNames: ["outcome"],
    buckets: [1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600],
    registers,
  });
  const stored = new Counter({
    name: "quarterdeck_backup_stored_bytes_total",
    help: "Bytes that finished runs have stored.",
    registers,
  });
  for (const outcome of outcomes) {
    durations.zero({ outcome });
    for (const trigger of backupTriggers)
      // These are not runs of this installation.
      if (trigger !== "adopted" && trigger !== "copy") runs.inc({ outcome, trigger }, 0);
  }
  return {
    ran({ outcome, trigger, durationMs, sizeBytes }) {
      runs.inc({ outcome, trigger });
      // Negative where the clock was set back during the run.
      durations.observe({ outcome }, Math.max(0, durationMs) / 1000);
      stored.inc(sizeBytes);
    },
  };
}

/** Caches the gaps of schedules until the next run, because computing a few thousand of them takes a second. */
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
      const configurations = await readConfigurations(tx, null);
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
          "copy_missing",
          "Whether the newest good backup is missing in the second storage of its configuration.",
          ({ copy_missing: missing }) => (missing === null ? 0 : 1),
        ),
        ofEach(
          "drill_failed",
          "Whether a backup failed its restore drill, and none passed one since.",
          (one) => (countingFailedDrill(one, one.good_id) === null ? 0 : 1),
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
            const state = protectionByRuns(one, decidingRuns(one), nowMs).state;
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

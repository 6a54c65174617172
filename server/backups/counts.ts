// What runs of backups came to, counted while the service runs.
import { Counter, Histogram, type Registry } from "prom-client";

import { backupTriggers, type BackupTrigger } from "../../contract/backups/backup.ts";

export type BackupCounts = {
  /** A run came to its end. @param sizeBytes as stored; 0 for one that failed */
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
    for (const trigger of backupTriggers) runs.inc({ outcome, trigger }, 0);
  }
  return {
    ran({ outcome, trigger, durationMs, sizeBytes }) {
      runs.inc({ outcome, trigger });
      durations.observe({ outcome }, durationMs / 1000);
      stored.inc(sizeBytes);
    },
  };
}

// Metrics of the service's backups of itself, so that a monitoring that outlives the service can tell that they stopped.
import type { Clock } from "../clock.ts";
import type { MetricsPart } from "../metrics/part.ts";
import { readRecord } from "./record.ts";

export const selfBackupMetrics = (clock: Clock): MetricsPart => ({
  name: "self-backup",
  async read(tx) {
    const { last_good_at: good, failure } = await readRecord(tx);
    const of = (name: string, help: string, value: number | null) => ({
      name: `quarterdeck_self_backup_${name}`,
      help,
      values: value === null ? [] : [{ value }],
    });
    const at = good === null ? null : Date.parse(good) / 1000;
    return [
      of(
        "last_success_timestamp_seconds",
        "When the newest good backup of Quarterdeck itself began; missing = there is none.",
        at,
      ),
      of(
        "last_success_age_seconds",
        "Age of the newest good backup of Quarterdeck itself.",
        at === null ? null : Math.max(0, clock.now() / 1000 - at),
      ),
      of(
        "failed",
        "Whether the newest backup of Quarterdeck itself failed.",
        failure === null ? 0 : 1,
      ),
    ];
  },
});

// Table history: how many rows each table had in each of the last backups.
import * as z from "zod/mini";
import { id, timestamp } from "../values.ts";

/** Maximum number of backups in a history. */
export const countedBackups = 30;

const count = z.int().check(z.gte(0));

/** An extra: the counts in the manifests of a configuration's last backups. */
export const backupCounts = z
  .object({
    /** `rows` of tables; for a site, `entries`: files and folders. */
    unit: z.enum(["rows", "entries"]),
    /** The finished backups of runs that have counts, oldest first. */
    backups: z.array(z.object({ id, started_at: timestamp })),
    /** Sorted by size, largest first. One count for each backup; null = it was not in that backup. */
    series: z.array(z.object({ name: z.string(), counts: z.array(z.nullable(count)) })),
    /** Number of series that are left out, all of them smaller. */
    left_out: count,
  })
  .register(z.globalRegistry, { id: "BackupCounts" });
export type BackupCounts = z.infer<typeof backupCounts>;

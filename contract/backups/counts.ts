// Table history: how many rows each table had in each of the last backups.
import * as z from "zod/mini";
import { id, timestamp } from "../values.ts";

/** How many backups a history has at the most. */
export const countedBackups = 30;

const count = z.int().check(z.gte(0));

/** An extra: what the manifests of a configuration's last backups counted. */
export const backupCounts = z
  .object({
    /** Rows of tables; of a site, files and folders. */
    unit: z.enum(["rows", "entries"]),
    /** The finished backups of runs that have counts, oldest first. */
    backups: z.array(z.object({ id, started_at: timestamp })),
    /** The largest first; by backup, null = it was not there. */
    series: z.array(z.object({ name: z.string(), counts: z.array(z.nullable(count)) })),
    /** How many more there are, all of them smaller. */
    left_out: count,
  })
  .register(z.globalRegistry, { id: "BackupCounts" });
export type BackupCounts = z.infer<typeof backupCounts>;

import { type Backup, isFinishedRun } from "../../contract/backups/backup.ts";

type Run = Pick<Backup, "id" | "status" | "trigger" | "damage" | "warnings">;

/**
 * Returns warnings for the operator: about an overdue run, from the rehearsal and the newest finished backup, and about damaged backups.
 * @param runs newest first
 */
export function warningsOf(
  configuration: { missed_since: unknown; install_warnings: readonly string[] },
  runs: readonly Run[],
): string[] {
  const newest = runs.find(isFinishedRun);
  const damaged = runs.filter(({ damage }) => damage);
  return [
    ...(configuration.missed_since === null ? [] : ["A run is overdue."]),
    ...configuration.install_warnings,
    ...(newest?.warnings ?? []).map((warning) => `Backup ${newest?.id}: ${warning}`),
    ...damaged.map(({ id, damage }) => `Backup ${id} is damaged: ${damage}`),
  ];
}

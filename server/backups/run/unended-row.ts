// Finds the current row of a runner whose last change may have been committed without a response.
import type { Connection } from "../../store/database.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";

/** Whether a backup waits or runs. A run that waits for its copy has ended its own work. */
export const isUnended = ({ status, ended_at: endedAt }: BackupRow): boolean =>
  status === "pending" || (status === "running" && endedAt === null);

/**
 * Locks a row. Only for the holder of its task, in a transaction that checks the claim: nobody else changes the row until it has ended.
 * @returns the current row; the known one where the backup has ended
 */
export async function lockUnended(
  tx: Connection,
  store: Pick<BackupStore, "lock">,
  known: BackupRow,
): Promise<BackupRow> {
  const now = await store.lock(tx, known.id);
  return now !== null && isUnended(now) ? now : known;
}

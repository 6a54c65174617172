// What the service remembers of the backups that it made of itself: the newest outcomes, and which files retention has to keep.
import { eq } from "../store/drizzle.ts";
import type { Connection } from "../store/database.ts";
import { settings } from "../store/tables.ts";

const key = "self_backup";

export type SelfBackupRecord = {
  /** The newest one whose restore was tried well, in ISO 8601. */
  last_good_at: string | null;
  /** Why the newest one failed; null = it did not. */
  failure: { at: string; reason: string } | null;
  /** Each in the storage of that id, the oldest first. `is_good`: its restore was tried well. */
  stored: { provider_id: number; key: string; is_good: boolean }[];
};

export async function readRecord(db: Pick<Connection, "select">): Promise<SelfBackupRecord> {
  const [row] = await db.select().from(settings).where(eq(settings.key, key));
  if (row === undefined) return { last_good_at: null, failure: null, stored: [] };
  const record: SelfBackupRecord = JSON.parse(row.value);
  return record;
}

export async function writeRecord(
  tx: Pick<Connection, "insert">,
  record: SelfBackupRecord,
): Promise<void> {
  const value = JSON.stringify(record);
  await tx
    .insert(settings)
    .values({ key, value })
    .onConflictDoUpdate({ target: settings.key, set: { value } });
}

// Records the backups that the service made of itself: the newest outcomes, and the files that retention keeps. Also decides
// whether a backup is due, and whether everything is in order.
import { eq } from "../store/drizzle.ts";
import type { Connection, Database } from "../store/database.ts";
import { settings } from "../store/tables/installation.ts";

const key = "self_backup";

export type SelfBackupRecord = {
  /** When the newest one began, in ISO 8601; missing in records of earlier versions. */
  begun_at?: string | null;
  /** The newest one that was restored successfully in a drill, in ISO 8601. */
  last_good_at: string | null;
  /** Why the newest one failed; null = it did not. */
  failure: { at: string; reason: string } | null;
  /**
   * Files with the ids of their storage providers, oldest first. `is_good`: a drill restored the file successfully. `is_left`: it is to be
   * removed, because its upload did not end, or an earlier removal failed; it may not exist.
   */
  stored: { provider_id: number; key: string; is_good: boolean; is_left?: boolean }[];
};

const noRecord: SelfBackupRecord = {
  begun_at: null,
  last_good_at: null,
  failure: null,
  stored: [],
};

export async function readRecord(db: Pick<Connection, "select">): Promise<SelfBackupRecord> {
  const [row] = await db.select().from(settings).where(eq(settings.key, key));
  if (row === undefined) return noRecord;
  const record: SelfBackupRecord = JSON.parse(row.value);
  return record;
}

const hourMs = 3600 * 1000;
/** A day, and the possible delay of a nightly run. */
const dueMs = 25 * hourMs;
/** Minimum time between two, so that two instances, or a catch-up just before the nightly run, only make one. */
const apartMs = 5 * hourMs;
/** A nightly run that was missed, and the next one too. */
const overdueMs = 48 * hourMs;

/** Whether the last one began too long ago. A start in the future was stored by a wrong clock. */
export const isDue = ({ begun_at: begun = null }: SelfBackupRecord, nowMs: number): boolean =>
  begun === null || Math.abs(nowMs - Date.parse(begun)) > dueMs;

/**
 * Stores that a backup begins now.
 * @returns the previous record; null = another backup has begun recently
 */
export const claim = (db: Database, nowMs: number): Promise<SelfBackupRecord | null> =>
  db.transaction(async (tx) => {
    await tx
      .insert(settings)
      .values({ key, value: JSON.stringify(noRecord) })
      .onConflictDoNothing();
    const [row] = await tx.select().from(settings).where(eq(settings.key, key)).for("update");
    const record: SelfBackupRecord = row === undefined ? noRecord : JSON.parse(row.value);
    const { begun_at: begun = null } = record;
    if (begun !== null && Math.abs(nowMs - Date.parse(begun)) < apartMs) return null;
    await writeRecord(tx, { ...record, begun_at: new Date(nowMs).toISOString() });
    return record;
  });

type Judgement = {
  state: "good" | "failed" | "overdue" | "none";
  last_good_at: string | null;
  failure: SelfBackupRecord["failure"];
};

/** Decides on the state of an installation's nightly backups. */
export function judge({ last_good_at: good, failure }: SelfBackupRecord, nowMs: number): Judgement {
  const isOld = good !== null && nowMs - Date.parse(good) > overdueMs;
  const state = failure !== null ? "failed" : good === null ? "none" : isOld ? "overdue" : "good";
  return { state, last_good_at: good, failure };
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

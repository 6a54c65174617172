// What the service remembers of the backups that it made of itself: the newest outcomes, and which files retention has to keep.
// And what follows from that: whether one is due, and whether all is well.
import { eq } from "../store/drizzle.ts";
import type { Connection, Database } from "../store/database.ts";
import { settings } from "../store/tables.ts";

const key = "self_backup";

export type SelfBackupRecord = {
  /** When the newest one began, in ISO 8601; absent in records of earlier versions. */
  begun_at?: string | null;
  /** The newest one whose restore was tried well, in ISO 8601. */
  last_good_at: string | null;
  /** Why the newest one failed; null = it did not. */
  failure: { at: string; reason: string } | null;
  /** Each in the storage of that id, the oldest first. `is_good`: its restore was tried well. */
  stored: { provider_id: number; key: string; is_good: boolean }[];
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
/** A day, and what a night's run may be late. */
const dueMs = 25 * hourMs;
/** Two instances that find one due, or a catch-up just before the night's, make one. */
const apartMs = 5 * hourMs;
/** A night that was left out, and the next one too. */
const overdueMs = 48 * hourMs;

/** Whether none has begun for longer than a night. A clock that was wrong may have left a moment to come. */
export const isDue = ({ begun_at: begun = null }: SelfBackupRecord, nowMs: number): boolean =>
  begun === null || Math.abs(nowMs - Date.parse(begun)) > dueMs;

/**
 * Notes that one begins now.
 * @returns what was known before; null = another one has begun a short while ago
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

/** Whether an installation that is to back itself up each night does. */
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

// Copies one SQLite database over another by the online backup, which is one transaction of the target.
import { backup, DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

/** All pages in one step: with smaller steps, the backup of a database that is written to would restart forever. */
const allPages = 2_147_483_647;
const retryMs = 50;
/** SQLITE_BUSY, see https://www.sqlite.org/rescode.html. */
const busyCode = 5;

/** A path: text, or bytes where it may not be UTF-8. */
export type DatabasePath = string | Uint8Array;

export const open = (path: DatabasePath, readOnly: boolean, busyMs: number): DatabaseSync =>
  new DatabaseSync(typeof path === "string" ? path : Buffer.from(path), {
    readOnly,
    timeout: busyMs,
  });

/** @throws Error with `errcode` 5 where the target was locked for more than `busyMs` */
export async function copy(from: DatabasePath, to: string, busyMs: number): Promise<void> {
  const database = open(from, true, busyMs);
  try {
    for (let waitedMs = 0; ; waitedMs += retryMs) {
      try {
        await backup(database, to, { rate: allPages });
        return;
      } catch (error) {
        // node:sqlite does not wait for a lock of the target, and reports that as "not an error" with code 0.
        const { errcode } = error as { errcode?: number };
        if (errcode !== 0 && errcode !== busyCode) throw error;
        if (waitedMs >= busyMs)
          throw Object.assign(new Error("database is locked", { cause: error }), {
            errcode: busyCode,
          });
        await sleep(retryMs);
      }
    }
  } finally {
    database.close();
  }
}

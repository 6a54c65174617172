// Identifies a data folder, and with it a machine, among the instances on the same database.
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import { toError } from "../to-error.ts";

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Returns the id of the data folder, which the first start creates. The folder is locked, so no other process creates one. */
export function readHome(dataFolder: string): string {
  const path = join(dataFolder, "instance");
  try {
    const text = readFileSync(path, "utf8").trim();
    if (uuid.test(text)) return text;
  } catch (error) {
    if (toError(error).code !== "ENOENT") throw error;
  }
  const made = randomUUID();
  writeFileSync(path, `${made}\n`, { mode: 0o600 });
  return made;
}

/**
 * Returns the mark of the processes on this machine. The first instance of an installation uses the same mark as a single
 * instance; all others add their own id, because several instances may run on one machine.
 */
export async function processMark(db: Database, installation: string, home: string) {
  const key = "first_home";
  await db.execute(
    sql`insert into settings (key, value) values (${key}, ${home}) on conflict do nothing`,
  );
  const { rows } = await db.execute<{ value: string }>(
    sql`select value from settings where key = ${key}`,
  );
  return rows[0]?.value === home ? installation : `${installation}-${home.slice(0, 8)}`;
}

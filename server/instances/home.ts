// What tells a data folder, and with it a machine, from those of other instances on the same database.
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import { toError } from "../to-error.ts";

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Its id, made at the first start. The folder is locked, so nobody else makes one. */
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
 * What the processes on this machine are marked with. The first instance of an installation marks them as one that has its
 * database alone does; each other one tells its own from theirs, should they run on one machine.
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

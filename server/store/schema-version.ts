// Checks whether this version of the code can work with the schema of the database. Instances of two adjacent versions may share
// a database during an upgrade; a version that is too old must not touch a schema that it does not support.
import { createRequire } from "node:module";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { eq, sql } from "./drizzle.ts";
import { settings } from "./tables/installation.ts";

/**
 * The last migration that older code cannot work with. A migration that only adds what older code can ignore does not change this
 * value; one that removes or changes what older code reads or writes does.
 */
const lastBreaking = "0020_instances";

const require = createRequire(import.meta.url);
// `require` is untyped; both files have a known format.
const journal = require("./migrations/meta/_journal.json") as {
  entries: { tag: string; when: number }[];
};
const { pgboss }: { pgboss: { schema: number } } = require("pg-boss/package.json");

/** Schema version of pg-boss. */
export const jobsSchema = pgboss.schema;

/** Returns when a migration was written, in milliseconds; Drizzle stores this number for each applied migration. */
function whenOf(tag: string): number {
  const entry = journal.entries.find((entry) => entry.tag === tag);
  if (entry === undefined) throw new Error(`There is no migration ${tag}.`);
  return entry.when;
}
/** Whether code without the newest migration cannot work with it. */
export const breaksWithPrevious = journal.entries.at(-1)?.tag === lastBreaking;
const newestKnown = Math.max(...journal.entries.map(({ when }) => when));

const key = "schema_last_breaking";

/** The schema was created by a newer, incompatible version of the code. */
export class NewerSchema extends Error {
  override name = "NewerSchema";
  constructor() {
    super(
      "The database was upgraded by a newer version of Quarterdeck, which this one cannot work with. Nothing was changed. Start that version or a newer one.",
    );
  }
}

type Connected = Pick<NodePgDatabase, "execute" | "select" | "insert">;

async function readNumber(db: Connected, table: string, column: string): Promise<number | null> {
  const { rows } = await db.execute<{ is_there: boolean }>(
    sql`select to_regclass(${table}) is not null as is_there`,
  );
  if (rows[0]?.is_there !== true) return null;
  const found = await db.execute<{ number: string | null }>(
    sql`select max(${sql.identifier(column)})::text as number from ${sql.raw(table)}`,
  );
  return found.rows[0]?.number == null ? null : Number(found.rows[0].number);
}

const newestApplied = (db: Connected) =>
  readNumber(db, "drizzle.__drizzle_migrations", "created_at");

/** @throws NewerSchema */
export async function refuseNewerSchema(db: Connected): Promise<void> {
  if (((await readNumber(db, "pgboss.version", "version")) ?? 0) > pgboss.schema)
    throw new NewerSchema();
  if (((await newestApplied(db)) ?? 0) <= newestKnown) return;
  const [noted] = await db.select().from(settings).where(eq(settings.key, key));
  if (noted === undefined || Number(noted.value) > newestKnown) throw new NewerSchema();
}

/** Compares a compatible schema with this code's; `empty` = no service has started on it yet. */
export async function readSchemaState(db: Connected): Promise<"empty" | "older" | "current"> {
  const newest = await newestApplied(db);
  if (newest === null) return "empty";
  return newest < newestKnown ? "older" : "current";
}

/** Stores the last breaking migration for older versions, once the schema is this code's. */
export async function noteSchema(db: Connected): Promise<void> {
  if (((await newestApplied(db)) ?? 0) > newestKnown) return;
  const value = String(whenOf(lastBreaking));
  await db
    .insert(settings)
    .values({ key, value })
    .onConflictDoUpdate({ target: settings.key, set: { value } });
}

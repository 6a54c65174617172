// The tables of both ends. Those of the target are created as by a first start, with the migrations and pg-boss's own schema, so
// that the PostgreSQL versions of the two ends do not matter.
import { getConstructionPlans } from "pg-boss";
import { migrationsFolder } from "../database.ts";
import { getTableName, isTable, readMigrationFiles } from "../drizzle.ts";
import * as activity from "../tables/activity.ts";
import * as backups from "../tables/backups.ts";
import * as events from "../tables/events.ts";
import * as installation from "../tables/installation.ts";
import * as instances from "../tables/instances.ts";
import * as inventory from "../tables/inventory.ts";
import * as notifications from "../tables/notifications.ts";
import * as search from "../tables/search.ts";
import * as tokens from "../tables/tokens.ts";
import * as webhooks from "../tables/webhooks.ts";
import * as workers from "../tables/workers.ts";
import { MoveError } from "./move-error.ts";
import type { Side } from "./side.ts";

/** Parts of SQL, quoted where necessary. */
export type Table = { name: string; columns: string };

/** Schemas that belong to Quarterdeck alone; its other tables are in `public`, which may have tables of others. */
const ownSchemas = ["drizzle", "pgboss"];
const ownTables = [
  activity,
  backups,
  events,
  installation,
  instances,
  inventory,
  notifications,
  search,
  tokens,
  webhooks,
  workers,
]
  .flatMap((module) => Object.values<unknown>(module))
  .flatMap((value) => (isTable(value) ? [`public.${getTableName(value)}`] : []));

/** Returns which of Quarterdeck's schemas and tables exist; empty in an unused database. */
export async function findTables({ query }: Side): Promise<string[]> {
  const found = await query<{ name: string }>(
    `select nspname as name from pg_namespace where nspname = any($1)
     union all select name from unnest($2::text[]) as name where to_regclass(name) is not null`,
    [ownSchemas, ownTables],
  );
  return found.map(({ name }) => name);
}

/** Returns the newest migration of this version, by the number that is stored in a database. */
export const newestMigration = (): number =>
  readMigrationFiles({ migrationsFolder }).at(-1)?.folderMillis ?? 0;

/**
 * @returns the newest migration, which is this version's own
 * @throws MoveError the data was stored by another version
 */
export async function checkVersion({ query, place }: Side, otherwise = "Move"): Promise<number> {
  const [stored] = await query<{ newest: string }>(
    "select max(created_at) as newest from drizzle.__drizzle_migrations",
  );
  const newest = newestMigration();
  const difference = Number(stored?.newest) - newest;
  if (difference < 0)
    throw new MoveError(
      `An older version of Quarterdeck stored ${place}. Start this version on it once and stop it, then run the same command again.`,
    );
  if (difference > 0)
    throw new MoveError(
      `A newer version of Quarterdeck stored ${place}. ${otherwise} it with that version or a newer one.`,
    );
  return newest;
}

/**
 * Creates all tables, in the transaction of the move, without the triggers and foreign keys that would affect the copying.
 * @param newest the last migration to apply
 */
export async function makeTables(
  target: Side,
  newest = Number.POSITIVE_INFINITY,
): Promise<{
  tables: Table[];
  /** Adds triggers and foreign keys; the latter check every row. */
  complete(): Promise<void>;
}> {
  const { query } = target;
  const before = new Set((await listTables(target)).map(({ name }) => name));
  await query("create schema drizzle");
  // The same table that Drizzle creates; its rows are moved like all others.
  await query(
    "create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)",
  );
  for (const { sql: statements, folderMillis } of readMigrationFiles({ migrationsFolder }))
    if (folderMillis <= newest) for (const statement of statements) await query(statement);
  await query(constructionPlan());
  const made = (await listTables(target)).filter(({ name }) => !before.has(name));
  const names = made.map(({ name }) => name);
  const triggered = await query<{ name: string }>(
    "select distinct tgrelid::regclass::text as name from pg_trigger where not tgisinternal and tgrelid = any($1::regclass[])",
    [names],
  );
  for (const { name } of triggered) await query(`alter table ${name} disable trigger user`);
  const keys = await query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and conparentid = 0 and conrelid = any($1::regclass[])`,
    [names],
  );
  for (const { table, name } of keys) await query(`alter table ${table} drop constraint ${name}`);
  return {
    tables: made.filter(({ is_moved }) => is_moved),
    async complete() {
      for (const { table, name, definition } of keys)
        await query(`alter table ${table} add constraint ${name} ${definition}`);
      for (const { name } of triggered) await query(`alter table ${name} enable trigger user`);
    },
  };
}

/** Returns pg-boss's construction plan without its transaction, because it is part of a larger one here. */
function constructionPlan(): string {
  const [, body] = /^\s*BEGIN;([^]*)COMMIT;\s*$/.exec(getConstructionPlans("pgboss")) ?? [];
  if (body === undefined || /^\s*(begin|commit)\s*;/im.test(body))
    throw new Error("The job engine's plan is not one transaction.");
  return `${body}
    set local lock_timeout = 0;
    set local idle_in_transaction_session_timeout = 0`;
}

/**
 * Partitions are moved with their parent table, and the schema changes that pg-boss keeps in `bam` were made to the old tables.
 */
async function listTables({ query }: Side): Promise<(Table & { is_moved: boolean })[]> {
  return query(
    `select c.oid::regclass::text as name, not c.relispartition and c.oid is distinct from to_regclass('pgboss.bam') as is_moved,
       (select string_agg(quote_ident(attname), ', ' order by attname) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns
     from pg_class c where c.relkind in ('r', 'p') and c.relnamespace::regnamespace::text in ('public', 'drizzle', 'pgboss')
     order by name`,
  );
}

/** Returns Quarterdeck's tables whose rows are to be copied, in a database that may have others. */
export async function listOwnTables(source: Side): Promise<Table[]> {
  const all = await listTables(source);
  return all.filter(
    ({ name, is_moved }) =>
      is_moved &&
      (ownTables.includes(`public.${name}`) ||
        ownSchemas.some((schema) => name.startsWith(`${schema}.`))),
  );
}

/** @throws MoveError the source's tables differ from those that this version creates */
export async function compareTables(source: Side, target: Side, moved: Table[]): Promise<void> {
  const columnsOf = new Map((await listTables(source)).map(({ name, columns }) => [name, columns]));
  const other = moved.filter(({ name, columns }) => columnsOf.get(name) !== columns);
  const versions = await Promise.all(
    [source, target].map(({ query }) => query("select version from pgboss.version")),
  );
  const partitioned = await source.query("select name from pgboss.queue where partition");
  if (JSON.stringify(versions[0]) !== JSON.stringify(versions[1]))
    other.push({ name: "pgboss.version", columns: "" });
  if (partitioned.length > 0) other.push({ name: "pgboss.queue", columns: "" });
  if (other.length > 0)
    throw new MoveError(
      `Tables of ${source.place} are not as this version of Quarterdeck makes them: ${other.map(({ name }) => name).join(", ")}. Start this version on it once and stop it, then run the same command again.`,
    );
}

type Sequence = { name: string; last_value: string; is_called: boolean };

/** Returns the state of the sequences of these tables. */
export async function readSequences(source: Side, tables: readonly Table[]): Promise<Sequence[]> {
  const found = await source.query<{ name: string }>(
    `select s.oid::regclass::text as name from pg_class s join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.oid
     where s.relkind = 'S' and d.refclassid = 'pg_class'::regclass and d.refobjid = any($1::regclass[])`,
    [tables.map(({ name }) => name)],
  );
  const sequences: Sequence[] = [];
  for (const { name } of found)
    sequences.push(
      ...(await source.query<Sequence>(`select $1 as name, last_value, is_called from ${name}`, [
        name,
      ])),
    );
  return sequences;
}

export async function setSequences({ query }: Side, sequences: readonly Sequence[]): Promise<void> {
  for (const { name, last_value: last, is_called: isCalled } of sequences)
    await query("select setval($1::regclass, $2, $3)", [name, last, isCalled]);
}

/** Removes everything of Quarterdeck and nothing else, in the transaction of the move. */
export async function dropTables(target: Side): Promise<void> {
  const { query } = target;
  const found = (await findTables(target)).filter((name) => ownTables.includes(name));
  const functions = await query<{ name: string }>(
    "select distinct tgfoid::regprocedure::text as name from pg_trigger where not tgisinternal and tgrelid = any($1::regclass[])",
    [found],
  );
  if (found.length > 0) await query(`drop table ${found.join(", ")}`);
  for (const { name } of functions) await query(`drop function ${name}`);
  for (const name of ownSchemas) await query(`drop schema if exists ${name} cascade`);
}

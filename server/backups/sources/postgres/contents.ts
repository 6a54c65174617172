// Inspects the present content of a PostgreSQL database, before a restore replaces it.
import type pg from "pg";
import { isMissingDatabase } from "./databases.ts";
import { listTables } from "./count.ts";
import { withClient, type Target } from "./connection.ts";

/** Limit for each statement, because a person waits for the result. */
const limitMs = 20_000;

/** @returns null where the database does not exist */
async function look<Result>(
  target: Target,
  signal: AbortSignal,
  ask: (client: pg.Client) => Promise<Result>,
): Promise<Result | null> {
  try {
    return await withClient(target, { applicationName: "quarterdeck", signal }, async (client) => {
      await client.query(
        `set default_transaction_read_only = on; set statement_timeout = ${limitMs}; set lock_timeout = ${limitMs}`,
      );
      return ask(client);
    });
  } catch (error) {
    if (isMissingDatabase(error)) return null;
    throw error;
  }
}

/** @returns rows by table; null where the database does not exist. @throws SourceError, also where a table takes too long */
export const countRowsNow = (
  target: Target,
  signal: AbortSignal,
): Promise<Record<string, number> | null> =>
  look(target, signal, async (client) => {
    const counts: Record<string, number> = {};
    for (const { name, quoted } of await listTables(client)) {
      const { rows } = await client.query<{ count: string }>(
        `select count(*) as count from only ${quoted}`,
      );
      counts[name] = Number(rows[0]?.count);
    }
    return counts;
  });

/** SQL for the objects in a catalog, except those of PostgreSQL itself and of extensions. */
const ownObjects = (catalog: string, namespace: string) => `
  select from pg_catalog.${catalog} o join pg_catalog.pg_namespace n on n.oid = o.${namespace}
  where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    and not exists (
      select from pg_catalog.pg_depend d
      where d.classid = 'pg_catalog.${catalog}'::regclass and d.objid = o.oid and d.deptype = 'e'
    )`;

/** Whether a restore would replace nothing. @throws SourceError */
export async function isEmptyDatabase(target: Target, signal: AbortSignal): Promise<boolean> {
  const isEmpty = await look(target, signal, async (client) => {
    const { rows } = await client.query<{ empty: boolean }>(`
      select not exists (${ownObjects("pg_class", "relnamespace")})
        and not exists (${ownObjects("pg_proc", "pronamespace")})
        and not exists (${ownObjects("pg_type", "typnamespace")})
        and not exists (select from pg_catalog.pg_largeobject_metadata) as empty`);
    return rows[0]?.empty === true;
  });
  return isEmpty ?? true;
}

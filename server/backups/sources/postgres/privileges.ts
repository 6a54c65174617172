// Checks that an account may read everything that a dump contains, before a scheduled pg_dump fails.
import pg from "pg";
import type { Target } from "./connection.ts";
import { SourceError } from "../source.ts";

const toldNames = 5;

type Closed = { name: string; why: "privilege" | "policy" };

/** @throws SourceError that names what the account may not read, and how to allow it */
export async function checkPrivileges(
  client: pg.Client,
  target: Target,
  serverMajor: number,
): Promise<void> {
  const account = pg.escapeIdentifier(target.user);
  // What pg_dump reads: tables, the parents of partitions (it locks them) and sequences, except an extension's own.
  const { rows } = await client.query<Closed>(`
    select nspname || '.' || relname as name,
      case when has_schema_privilege(n.oid, 'usage') and may then 'policy' else 'privilege' end as why
    from pg_class c join pg_namespace n on n.oid = relnamespace,
      lateral (select case relkind when 'S' then has_sequence_privilege(c.oid, 'select')
        else has_table_privilege(c.oid, 'select') end as may) as privilege
    where relkind in ('r', 'p', 'S') and relpersistence <> 't'
      and nspname !~ '^pg_' and nspname <> 'information_schema'
      and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
      and not (has_schema_privilege(n.oid, 'usage') and may and not row_security_active(c.oid))
    order by 1`);
  const refused = rows.filter(({ why }) => why === "privilege");
  if (refused.length > 0)
    throw new SourceError(
      `${target.name}: the account ${target.user} may not read ${tell(refused)}. Allow it with: ${
        serverMajor >= 14
          ? `GRANT pg_read_all_data TO ${account};`
          : `GRANT USAGE ON SCHEMA … TO ${account}; GRANT SELECT ON ALL TABLES IN SCHEMA … TO ${account}; GRANT SELECT ON ALL SEQUENCES IN SCHEMA … TO ${account};`
      }`,
    );
  if (rows.length > 0)
    throw new SourceError(
      `${target.name}: row-level security hides rows of ${tell(rows)} from the account ${target.user}. Allow it with: ALTER ROLE ${account} BYPASSRLS;`,
    );
  // Before PostgreSQL 18 no function checks large objects, and pg_read_all_data does not cover them.
  const { rows: objects } = await client.query(`
    select from pg_largeobject_metadata
    where not pg_has_role(lomowner, 'usage') and not exists (
      select from aclexplode(lomacl)
      where privilege_type = 'SELECT' and (grantee = 0 or pg_has_role(grantee, 'usage'))
    ) limit 1`);
  if (objects.length > 0)
    throw new SourceError(
      `${target.name}: the account ${target.user} may not read all large objects. Let their owner or a superuser take the backup.`,
    );
}

const tell = (closed: Closed[]): string => tellNames(closed.map(({ name }) => name));

/** Returns the first few names as text, and how many more there are. */
export const tellNames = (names: readonly string[]): string =>
  names.slice(0, toldNames).join(", ") +
  (names.length > toldNames ? ` and ${names.length - toldNames} more` : "");

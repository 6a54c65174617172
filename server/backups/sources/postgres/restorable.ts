// Checks whether an account may also restore what it may dump, so that a problem is reported when the backup is set up, not when
// it is needed.
import pg from "pg";
import { tellNames } from "./privileges.ts";
import type { Target } from "./connection.ts";
import { hasTemplate, howToAllow, mayCreate, scratchTemplate } from "./databases.ts";
import { tellForeignMembers } from "./extension-members.ts";
import { whySubscribed } from "./subscriptions.ts";

/**
 * @param isDrilledHere whether drills run on this server
 * @returns warnings about restores and drills by this account
 */
export async function tellRestorable(
  client: pg.Client,
  target: Target,
  isDrilledHere: boolean,
): Promise<string[]> {
  const account = pg.escapeIdentifier(target.user);
  const warnings: string[] = [];
  const owners = await foreignOwners(client);
  const names = owners.map(({ owner }) => owner);
  if (owners.length > 0)
    warnings.push(
      `A restore would be refused: something in the database belongs to ${tellNames(names)}, and ${target.user} is not a member of that role. ${
        // The advice must not make the account a superuser for the sake of a backup.
        owners.some(({ isSuperuser }) => isSuperuser)
          ? `Give it to another role with ALTER … OWNER TO, or let a superuser restore.`
          : `Allow it with: ${names.map((owner) => `GRANT ${pg.escapeIdentifier(owner)} TO ${account};`).join(" ")}`
      }`,
    );
  const { rows } = await client.query<{ may: boolean }>(
    "select has_database_privilege(current_database(), 'create') as may",
  );
  if (rows[0]?.may !== true)
    warnings.push(
      `A restore would be refused: ${target.user} may not create schemas in the database. Allow it with: GRANT CREATE ON DATABASE ${pg.escapeIdentifier(target.database)} TO ${account};`,
    );
  const members = await tellForeignMembers(client);
  if (members.length > 0)
    warnings.push(
      `A restore leaves out what is part of an extension that ${target.user} may not change: ${tellNames(members)}.`,
    );
  const subscribed = await whySubscribed(client);
  if (subscribed !== null) warnings.push(`A restore would be refused: ${subscribed}`);
  if (!isDrilledHere) return warnings;
  if (!(await mayCreate(client))) {
    warnings.push(
      `A drill would be refused: ${target.user} may not create databases. ${howToAllow(target)}`,
    );
    return warnings;
  }
  const extensions = await beyondExtensions(client);
  const needed = extensions.filter(({ isNeeded }) => isNeeded).map(({ name }) => name);
  const loose = extensions.filter(({ isNeeded }) => !isNeeded).map(({ name }) => name);
  if (loose.length > 0)
    warnings.push(
      `A drill leaves out what only a superuser may create and nothing else needs: the extension ${tellNames(loose)}.`,
    );
  if (needed.length > 0 && !(await hasTemplate(client)))
    warnings.push(
      `A drill would be refused: only a superuser may create the extension ${tellNames(needed)}, which other objects need. ${howToMakeTemplate(needed)}`,
    );
  return warnings;
}

/** Explains how to create the template that drills by accounts other than superusers start from. */
export const howToMakeTemplate = (extensions: readonly string[]): string =>
  `Let a superuser make a template for drills that has it: CREATE DATABASE ${scratchTemplate} TEMPLATE template0; \\connect ${scratchTemplate} ${extensions.map((name) => `CREATE EXTENSION ${pg.escapeIdentifier(name)};`).join(" ")} ALTER DATABASE ${scratchTemplate} IS_TEMPLATE true;`;

/** Catalogs of other objects in schemas that have an owner, each with the prefix of its columns. */
const inSchemas = [
  ["pg_collation", "coll"],
  ["pg_conversion", "con"],
  ["pg_operator", "opr"],
  ["pg_opclass", "opc"],
  ["pg_opfamily", "opf"],
  ["pg_ts_config", "cfg"],
  ["pg_ts_dict", "dict"],
  ["pg_statistic_ext", "stx"],
] as const;

/**
 * Catalogs of objects outside of schemas, each with the column of the owner. An oid below 16384 means that an object came with
 * PostgreSQL itself, except for large objects, whose oid can be chosen.
 */
const beside = [
  ["pg_largeobject_metadata", "lomowner"],
  ["pg_publication", "pubowner"],
  ["pg_event_trigger", "evtowner"],
  ["pg_foreign_server", "srvowner"],
  ["pg_foreign_data_wrapper", "fdwowner"],
  ["pg_language", "lanowner"],
] as const;

/** Returns the roles that own something in a dump, and whose rights the account does not have. */
async function foreignOwners(
  client: pg.Client,
): Promise<{ owner: string; isSuperuser: boolean }[]> {
  const { rows } = await client.query<{ owner: string; isSuperuser: boolean }>(`
    select distinct rolname as owner, rolsuper as "isSuperuser" from (
      select relowner as owner, 'pg_class'::regclass as classid, oid, relnamespace as space from pg_class where relkind in ('r', 'p', 'v', 'm', 'S', 'f')
      union all select proowner, 'pg_proc'::regclass, oid, pronamespace from pg_proc
      union all select typowner, 'pg_type'::regclass, oid, typnamespace from pg_type
      union all select nspowner, 'pg_namespace'::regclass, oid, oid from pg_namespace
      ${inSchemas.map(([catalog, prefix]) => `union all select ${prefix}owner, '${catalog}'::regclass, oid, ${prefix}namespace from ${catalog}`).join("\n      ")}
      ${beside.map(([catalog, owner]) => `union all select ${owner}, '${catalog}'::regclass, oid, null from ${catalog}`).join("\n      ")}
    ) as owned join pg_roles r on r.oid = owner left join pg_namespace n on n.oid = space
    where (owned.oid >= 16384 or space is not null or classid = 'pg_largeobject_metadata'::regclass)
      and (space is null or nspname !~ '^pg_' and nspname <> 'information_schema') and rolname <> 'pg_database_owner'
      and not pg_has_role(owner, 'usage')
      and not (classid = 'pg_namespace'::regclass and nspname = 'public')
      and not exists (
        select from pg_depend d where d.classid = owned.classid and d.objid = owned.oid and d.objsubid = 0 and d.deptype in ('e', 'i')
      )
    order by 1`);
  return rows;
}

/** Returns the extensions that the account could not create, and whether objects outside of an extension need it. */
async function beyondExtensions(client: pg.Client): Promise<{ name: string; isNeeded: boolean }[]> {
  const { rows } = await client.query<{ name: string; isNeeded: boolean }>(`
    select extname as name, exists (
      select from pg_depend d join pg_depend e on e.classid = d.refclassid and e.objid = d.refobjid and e.deptype = 'e'
      where e.refclassid = 'pg_extension'::regclass and e.refobjid = x.oid and d.deptype in ('n', 'a') and not exists (
        select from pg_depend own where own.classid = d.classid and own.objid = d.objid and own.deptype = 'e'
      )
    ) as "isNeeded"
    from pg_extension x where ${beyondCondition("x.extname")} order by 1`);
  return rows;
}

/** SQL that is true where only a superuser may create an extension and the account is none. @param name SQL for its name */
export const beyondCondition = (name: string): string => `
  not (select rolsuper from pg_roles where rolname = current_user) and exists (
    select from pg_available_extension_versions v, to_jsonb(v) as row
    where v.name = ${name} and v.superuser and not coalesce((row->>'trusted')::boolean, false)
  ) and not exists (
    select from pg_available_extension_versions v, to_jsonb(v) as row
    where v.name = ${name} and (not v.superuser or coalesce((row->>'trusted')::boolean, false))
  ) and ${name} <> 'plpgsql'`;

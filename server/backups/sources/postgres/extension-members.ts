// Finds what an archive has of objects that are part of an extension: rows and sequences that the extension lets pg_dump write, such as
// those of PostGIS in spatial_ref_sys, and changed privileges. The extension makes the objects, and its owner alone may change them.
import type pg from "pg";
import type { Entry } from "./archive.ts";

const kinds = new Set(["TABLE DATA", "SEQUENCE SET", "ACL", "SECURITY LABEL"]);

/** Returns the entries of objects that the archive itself does not create: of extensions. */
function ofExtensions(entries: readonly Entry[]): Entry[] {
  // An archive of rows alone creates no table either.
  if (!entries.some(({ kind }) => kind === "EXTENSION")) return [];
  const made = new Set(entries.map(({ id }) => id));
  return entries.filter(
    ({ kind, rest, needs }) =>
      kinds.has(kind) &&
      needs.length > 0 &&
      !needs.some((id) => made.has(id)) &&
      !/^(?:- SCHEMA public|pg_catalog|information_schema) /.test(rest),
  );
}

const withExtension = `join pg_depend d on d.classid = o.classid and d.objid = o.oid and d.objsubid = 0 and d.deptype = 'e'
  join pg_extension x on d.refclassid = 'pg_extension'::regclass and x.oid = d.refobjid`;
/** The objects of an extension that is trusted belong to a superuser, whoever creates it. */
const isOwnMember = "pg_has_role(x.extowner, 'usage') and pg_has_role(o.owner, 'usage')";

/**
 * @param beyond extensions that are left out
 * @returns the entries of objects of extensions that are left out, or stay because they belong to another role
 */
export async function foreignMembers(
  client: pg.Client,
  entries: readonly Entry[],
  beyond: readonly string[],
): Promise<Entry[]> {
  const found = ofExtensions(entries);
  if (found.length === 0) return [];
  // With an empty search path, types carry their schemas, as in a dump.
  await client.query("select pg_catalog.set_config('search_path', '', false)");
  const ownerOf = ({ rest }: Entry) => / (\S+) *$/.exec(rest)?.[1] ?? "";
  const { rows: own } = await client.query<{ name: string }>(
    "select rolname as name from pg_roles where rolname = any($1) and pg_has_role(oid, 'usage')",
    [found.map(ownerOf)],
  );
  const { rows } = await client.query<{ places: string[]; isOwn: boolean }>(`
    select places, ${isOwnMember} as "isOwn" from (
      select 'pg_class'::regclass as classid, oid, relnamespace as space, relowner as owner,
        array[relname, 'TABLE ' || quote_ident(relname), 'SEQUENCE ' || quote_ident(relname)] as names from pg_class
      union all select 'pg_proc'::regclass, p.oid, pronamespace, proowner, array['FUNCTION ' || signature, 'PROCEDURE ' || signature]
        from pg_proc p, concat(quote_ident(proname), '(', oidvectortypes(proargtypes), ')') as signature
      union all select 'pg_type'::regclass, oid, typnamespace, typowner, array['TYPE ' || quote_ident(typname)] from pg_type
    ) as o ${withExtension} join pg_namespace n on n.oid = o.space,
      lateral (select array_agg(concat(nspname, ' ', name, ' ')) as places from unnest(names) as name) as l`);
  const isOwn = new Map(rows.flatMap((row) => row.places.map((place) => [place, row.isOwn])));
  return found.filter((entry) => {
    const place = entry.rest
      .trim()
      .replace(/ \S+$/, " ")
      .replace(/ COLUMN (.+)\..+ $/, " TABLE $1 ");
    // The archive does not say which extension an object that the database lacks is of.
    const isLikelyOwn = beyond.length === 0 && own.some(({ name }) => name === ownerOf(entry));
    return !(isOwn.get(place) ?? isLikelyOwn);
  });
}

/** Returns the entry in words, for people. */
export function tellMember({ kind, rest }: Entry): string {
  const [, schema = "", name = ""] = /^(\S+) (.+) \S+ *$/.exec(rest) ?? [];
  const of = (text: string) => (schema === "-" ? text : `${schema}.${text}`);
  if (kind === "TABLE DATA") return `rows of ${of(name)}`;
  if (kind === "SEQUENCE SET") return `state of ${of(name)}`;
  const what = kind === "ACL" ? "privileges" : "security label";
  return `${what} of ${of(name.replace(/^[A-Z ]+ /, ""))}`;
}

/** Returns what a dump has of extensions that belong to a role whose rights the account does not have, in words. */
export async function tellForeignMembers(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ place: string; what: string; condition: string | null }>(`
    select format('%I.%I', n.nspname, c.relname) as place, case c.relkind when 'S' then 'state' else 'rows' end as what,
      case when c.relkind = 'r' and has_table_privilege(c.oid, 'select') then condition end as condition
    from pg_extension x, unnest(x.extconfig, x.extcondition) as wanted(id, condition)
      join pg_class c on c.oid = wanted.id join pg_namespace n on n.oid = c.relnamespace, lateral (select c.relowner as owner) as o
    where not (${isOwnMember}) order by 1`);
  const told: string[] = [];
  for (const { place, what, condition } of rows) {
    const { rows: found } = await client.query<{ is: boolean }>(
      `select ${condition === null ? "true" : `exists (select from only ${place} ${condition})`} as is`,
    );
    if (found[0]?.is === true) told.push(`${what} of ${place}`);
  }
  const { rows: changed } = await client.query<{ place: string }>(`
    select o.place from (
      select 'pg_class'::regclass as classid, oid, oid::regclass::text as place, relowner as owner, relacl as acl from pg_class where relkind in ('r', 'p', 'v', 'm', 'S', 'f')
      union all select 'pg_proc'::regclass, oid, oid::regprocedure::text, proowner, proacl from pg_proc
    ) as o ${withExtension}
      left join pg_init_privs i on i.classoid = o.classid and i.objoid = o.oid and i.objsubid = 0
    where not (${isOwnMember}) and o.acl is distinct from i.initprivs order by 1`);
  return [...told, ...changed.map(({ place }) => `privileges of ${place}`)];
}

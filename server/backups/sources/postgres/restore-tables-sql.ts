// The SQL around the rows of single tables that are restored into a live database.
import pg from "pg";
import { beginning, clearDefaultPrivileges, ownSearchPath } from "./prologue.ts";

/** What to do with a table that cannot be restored on its own. */
export const restoreAside =
  "Restore the backup into a new database, and copy the table from there.";

const together = "Restore both tables together, or correct the rows.";

/**
 * SQL for the statement that counts the rows that violate a foreign key that is NOT VALID; null for any other key, for one between two
 * tables of the backup, which violate it as they did there, for one that is not enforced, and for one over periods.
 * @param key SQL for the key's row of pg_constraint
 * @param ids SQL for the array of the tables that are restored
 */
const countViolating = (key: string, ids: string): string => `(
  select format('select count(*) from only %s c where (%s) and not exists (select from only %s p where %s)',
    format('%I.%I', cn.nspname, cr.relname),
    string_agg(format('c.%I is not null', ca.attname), case ${key}.confmatchtype when 'f' then ' or ' else ' and ' end),
    format('%I.%I', pn.nspname, pr.relname),
    string_agg(format('p.%I%s operator(%I.%s) c.%I', pa.attname, (
      select format(' collate %I.%I', n.nspname, l.collname) from pg_collation l join pg_namespace n on n.oid = l.collnamespace
      where l.oid = pa.attcollation and pa.attcollation <> ca.attcollation
    ), n.nspname, o.oprname, ca.attname), ' and '))
  from unnest(${key}.conkey, ${key}.confkey, ${key}.conpfeqop) as k(own, other, operator)
    join pg_class cr on cr.oid = ${key}.conrelid join pg_namespace cn on cn.oid = cr.relnamespace
    join pg_class pr on pr.oid = ${key}.confrelid join pg_namespace pn on pn.oid = pr.relnamespace
    join pg_attribute ca on ca.attrelid = ${key}.conrelid and ca.attnum = k.own
    join pg_attribute pa on pa.attrelid = ${key}.confrelid and pa.attnum = k.other
    join pg_operator o on o.oid = k.operator join pg_namespace n on n.oid = o.oprnamespace
  where not ${key}.convalidated and not (${key}.conrelid = any(${ids}) and ${key}.confrelid = any(${ids}))
    and coalesce(to_jsonb(${key}) ->> 'conenforced', 'true') = 'true' and coalesce(to_jsonb(${key}) ->> 'conperiod', 'false') = 'false'
  group by cn.nspname, cr.relname, pn.nspname, pr.relname
)`;

/**
 * Statements of PL/pgSQL that clear the account's default privileges, and add to `later` those that set them again: a dump of a table
 * has the differences from PostgreSQL's own defaults, not from those of the account.
 * @param schemas SQL for an array of the schemas of tables that are created
 */
const suspendDefaultPrivileges = (schemas: string): string => {
  const rules = `defaclrole = (select oid from pg_roles where rolname = current_user) and defaclobjtype in ('r', 'S') and cardinality(${schemas}) > 0
      and (defaclnamespace = 0 or defaclnamespace in (select oid from pg_namespace where nspname = any(${schemas})))`;
  const place = "coalesce(' in schema ' || quote_ident(n.nspname), '')";
  return `
  for item in
    select format('alter default privileges for role %s%s ', defaclrole::regrole, ${place}) as rule, n.oid is null as everywhere,
      case defaclobjtype when 'r' then 'tables' else 'sequences' end as kinds, defaclrole::regrole as owner, defaclacl
    from pg_default_acl d left join pg_namespace n on n.oid = d.defaclnamespace where ${rules}
  loop
    if item.everywhere then
      later := later || (item.rule || format('revoke all on %s from %s', item.kinds, item.owner));
    end if;
    later := later || array(
      select item.rule || format('grant %s on %s to %s%s', privilege_type, item.kinds,
        case when grantee = 0 then 'public' else grantee::regrole::text end, case when is_grantable then ' with grant option' else '' end)
      from aclexplode(item.defaclacl)
    );
  end loop;
  ${clearDefaultPrivileges(rules)}`;
};

/**
 * Locks the tables, drops their foreign keys and those that refer to them, disables their triggers, and empties them. The
 * statements that undo this are kept in a setting of the transaction, because not every account may create a temporary table.
 * @param tables SQL for a JSON array of `{ schema, name }`
 * @param schemas SQL for an array of the schemas of tables that are created with the privileges of the backup
 * @param lockWaitMs how long it waits for each lock
 */
export const emptyTables = (tables: string, schemas: string, lockWaitMs: number): string => `
${beginning(lockWaitMs)}
set local client_encoding = 'UTF8';
do ${pg.escapeLiteral(`
declare
  item record;
  one record;
  space record;
  statement text;
  id oid;
  ids oid[] := '{}';
  places text[] := '{}';
  later text[] := '{}';
  violating bigint;
begin
  for item in select * from jsonb_to_recordset(${tables}) as x(schema text, name text) order by 1, 2 loop
    id := to_regclass(format('%I.%I', item.schema, item.name));
    if id is null then
      raise exception 'the table %.% is not there any more. ${restoreAside}', item.schema, item.name;
    end if;
    select relkind, relispartition, relowner into one from pg_class where oid = id;
    if one.relkind <> 'r' then
      raise exception '%.% is no ordinary table any more. ${restoreAside}', item.schema, item.name;
    end if;
    if one.relispartition or exists (select from pg_inherits where inhrelid = id or inhparent = id) then
      raise exception '%.% shares its rows with another table, by partitions or inheritance. ${restoreAside}', item.schema, item.name;
    end if;
    if not pg_has_role(one.relowner, 'usage') then
      raise exception 'the account does not own %.%. Restore as its owner or as a superuser.', item.schema, item.name;
    end if;
    execute format('lock table only %I.%I in access exclusive mode', item.schema, item.name);
    ids := ids || id;
    places := places || format('%I.%I', item.schema, item.name);
  end loop;

  for one in
    select c.conname, c.conparentid, r.relkind, r.relispartition, pg_has_role(r.relowner, 'usage') as owned,
      format('%I.%I', n.nspname, r.relname) as place, pg_get_constraintdef(c.oid) as definition,
      obj_description(c.oid, 'pg_constraint') as note, ${countViolating("c", "ids")} as counting
    from pg_constraint c join pg_class r on r.oid = c.conrelid join pg_namespace n on n.oid = r.relnamespace
    where c.contype = 'f' and (c.conrelid = any(ids) or c.confrelid = any(ids)) order by c.oid
  loop
    if one.conparentid <> 0 or one.relkind = 'p' or one.relispartition then
      raise exception 'the partitioned table % has a foreign key to it. ${restoreAside}', one.place;
    end if;
    if not one.owned then
      raise exception 'the account does not own %, which has a foreign key to it. Restore as a superuser.', one.place;
    end if;
    execute format('alter table only %s drop constraint %I', one.place, one.conname);
    -- Such a key is added again without a check of the rows.
    if one.counting is not null then
      execute one.counting into violating;
      later := later || format('do %L', format(
        'declare violating bigint := (%s); begin if violating > %s then raise exception using message = format(%L, violating); end if; end',
        one.counting, violating, format('the number of rows of %s that violate the foreign key %I would rise from %s to %%s. ${together}',
          replace(one.place, '%', '%%'), replace(one.conname, '%', '%%'), violating)));
    end if;
    later := later || format('alter table only %s add constraint %I %s', one.place, one.conname, one.definition);
    if one.note is not null then
      later := later || format('comment on constraint %I on %s is %L', one.conname, one.place, one.note);
    end if;
  end loop;

  for one in
    select t.tgname, format('%I.%I', n.nspname, r.relname) as place,
      case t.tgenabled when 'A' then 'enable always' when 'R' then 'enable replica' else 'enable' end as enabled
    from pg_trigger t join pg_class r on r.oid = t.tgrelid join pg_namespace n on n.oid = r.relnamespace
    where t.tgrelid = any(ids) and not t.tgisinternal and t.tgenabled <> 'D'
  loop
    execute format('alter table %s disable trigger %I', one.place, one.tgname);
    later := later || format('alter table %s %s trigger %I', one.place, one.enabled, one.tgname);
  end loop;

  ${suspendDefaultPrivileges(schemas)}

  perform ${ownSearchPath()};
  if cardinality(places) > 0 then execute 'truncate only ' || array_to_string(places, ', only '); end if;
  perform set_config('quarterdeck.later', to_json(later)::text, true);
end`)};
`;

/**
 * Compares the number of rows with the backup's, undoes what `emptyTables` did to foreign keys, triggers and default privileges, advances the
 * sequences that are behind the rows, and commits.
 * @param tables SQL for a JSON array of `{ schema, name, rows }`; `rows` is null where the backup has no count
 */
export const completeTables = (tables: string): string => `
set local client_encoding = 'UTF8';
select ${ownSearchPath()};
do ${pg.escapeLiteral(`
declare
  item record;
  one record;
  counted bigint;
  latest numeric;
  called boolean;
  statement text;
begin
  for item in select * from jsonb_to_recordset(${tables}) as x(schema text, name text, rows bigint) loop
    execute format('select count(*) from only %I.%I', item.schema, item.name) into counted;
    if counted <> item.rows then
      raise exception '%.% has % rows instead of % that the backup counted.', item.schema, item.name, counted, item.rows;
    end if;
  end loop;
  for statement in select value from json_array_elements_text(current_setting('quarterdeck.later')::json) loop
    execute statement;
  end loop;
  -- Last, because what a sequence is set to stays, even if everything else is undone.
  for item in select * from jsonb_to_recordset(${tables}) as x(schema text, name text) loop
    for one in
      select q.*, format('%I.%I', n.nspname, s.relname) as place, a.attname,
        has_sequence_privilege(s.oid, 'select') and has_sequence_privilege(s.oid, 'update') as may
      from pg_attribute a
        join pg_class s on s.relkind = 'S' and (exists (
          select from pg_depend d
          where d.classid = 'pg_class'::regclass and d.objid = s.oid and d.refclassid = 'pg_class'::regclass
            and d.refobjid = a.attrelid and d.refobjsubid = a.attnum and d.deptype in ('a', 'i')
        ) or exists (
          select from pg_attrdef f join pg_depend d on d.classid = 'pg_attrdef'::regclass and d.objid = f.oid
          where f.adrelid = a.attrelid and f.adnum = a.attnum and d.refclassid = 'pg_class'::regclass and d.refobjid = s.oid
            and pg_get_expr(f.adbin, f.adrelid) like 'nextval(%::regclass)'
        ))
        join pg_namespace n on n.oid = s.relnamespace
        join pg_sequence q on q.seqrelid = s.oid
      where a.attrelid = to_regclass(format('%I.%I', item.schema, item.name))
        and a.attnum > 0 and a.atttypid in ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'numeric'::regtype)
    loop
      if not one.may then
        raise warning 'the sequence % is left as it is, because the account may not change it', one.place;
        continue;
      end if;
      -- It gives no number beyond its bounds.
      execute format('select %s(%I) from only %I.%I where %I between %s and %s', case when one.seqincrement > 0 then 'max' else 'min' end,
        one.attname, item.schema, item.name, one.attname, one.seqmin, one.seqmax) into latest;
      execute format('select last_value, is_called from %s', one.place) into counted, called;
      if (latest - counted) * sign(one.seqincrement) > 0 or latest = counted and not called then
        perform setval(one.seqrelid::regclass, latest::bigint);
      end if;
    end loop;
  end loop;
end`)};
commit;
`;

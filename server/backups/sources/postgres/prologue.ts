// SQL that a restore runs before the archive's own statements, in the same transaction: it drops everything that a dump could
// contain, so that afterwards the database has the dump's content and nothing else.

/** SQL that begins a transaction and overrides settings of the account or the database that would change how statements are run. */
export const beginning = (lockWaitMs: number): string => `
begin read write;
set local statement_timeout = 0;
set local idle_in_transaction_session_timeout = 0;
select pg_catalog.set_config(name, '0', true) from pg_catalog.pg_settings where name = 'transaction_timeout';
set local client_min_messages = warning;
set local standard_conforming_strings = on;
set local array_nulls = on;
select pg_catalog.set_config('quarterdeck.search_path', pg_catalog.current_setting('search_path'), true);
set local search_path = pg_catalog;
set local row_security = off;
set local lock_timeout = ${lockWaitMs};`;

const databaseSetting = `(
  select substr(setting, length('search_path=') + 1)
  from pg_catalog.pg_db_role_setting s join pg_catalog.pg_database d on d.oid = s.setdatabase, unnest(s.setconfig) as setting
  where d.datname = current_database() and s.setrole = 0 and starts_with(setting, 'search_path=')
)`;

/**
 * Sets the database's own search path, because functions of checks, indexes, generated columns and materialized views run while
 * rows are restored, and may depend on it. The statements of a dump name everything with its schema.
 * @param isMade whether the session began before the database got its settings
 * @returns SQL for an expression that sets it
 */
export const ownSearchPath = (isMade = false): string =>
  `pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ', 'pg_catalog', nullif(coalesce(${
    isMade ? databaseSetting : "null"
  }, pg_catalog.current_setting('quarterdeck.search_path')), '')), true)`;

/**
 * Statements of PL/pgSQL that clear default privileges. They use the variables `item`, `space` and `statement`.
 * @param rules SQL for the condition of the rules, which are called `d`
 */
export const clearDefaultPrivileges = (rules: string): string => `
  for item in
    select defaclrole::regrole as owner, defaclobjtype as kind, defaclacl,
      case defaclobjtype when 'r' then 'tables' when 'S' then 'sequences' when 'f' then 'functions'
        when 'T' then 'types' when 'n' then 'schemas' else 'large objects' end as kinds,
      coalesce('in schema ' || quote_ident(n.nspname), '') as place
    from pg_default_acl d left join pg_namespace n on n.oid = d.defaclnamespace
    where ${rules}
  loop
    statement := format('alter default privileges for role %s %s ', item.owner, item.place);
    for space in select distinct grantee from aclexplode(item.defaclacl) loop
      execute statement || format('revoke all on %s from %s', item.kinds,
        case when space.grantee = 0 then 'public' else space.grantee::regrole::text end);
    end loop;
    if item.place = '' then
      execute statement || format('grant all on %s to %s', item.kinds, item.owner);
      if item.kind in ('f', 'T') then execute statement || format('grant all on %s to public', item.kinds); end if;
    end if;
  end loop;`;

/**
 * `pg_restore --clean` drops only what the archive names, and without `cascade`: a table that was created later would stay, and
 * with a foreign key to an older one it would make the restore fail.
 *
 * Objects with an oid below 16384 came with PostgreSQL itself; pg_dump uses the same limit. `public` is emptied and gets the
 * privileges of a new database, because pg_dump writes only the differences from those. Extensions of another owner stay: an
 * account that may not drop them could not create them again either.
 *
 * @param isPublicForAll whether the dump assumes that everybody may create in `public`, as before PostgreSQL 15
 * @param lockWaitMs how long the restore waits for the locks of a session that uses the database
 */
export const prologue = (isPublicForAll: boolean, lockWaitMs: number): string => `
${beginning(lockWaitMs)}
do $prologue$
declare
  statement text;
  item record;
  space record;
begin
  -- It is a whole one from here on, see markMade.
  if shobj_description((select oid from pg_database where datname = current_database()), 'pg_database') ~ '^quarterdeck restore \\d+( \\S+)?$' then
    execute format('comment on database %I is null', current_database());
  end if;

  -- First: they would fire for what follows.
  for item in select evtname from pg_event_trigger e
    where not exists (select from pg_depend d where d.classid = 'pg_event_trigger'::regclass and d.objid = e.oid and d.deptype = 'e')
  loop
    execute format('drop event trigger %I', item.evtname);
  end loop;

  for item in select extname from pg_extension
    where oid >= 16384 and pg_has_role(extowner, 'usage')
  loop
    execute format('drop extension if exists %I cascade', item.extname);
  end loop;

  for item in
    select classid, oid from (
      select 'pg_publication'::regclass as classid, oid from pg_publication
      union all select 'pg_foreign_server'::regclass, oid from pg_foreign_server
      union all select 'pg_foreign_data_wrapper'::regclass, oid from pg_foreign_data_wrapper
      union all select 'pg_cast'::regclass, oid from pg_cast
      union all select 'pg_language'::regclass, oid from pg_language
      union all select 'pg_am'::regclass, oid from pg_am
    ) as loose
    where oid >= 16384
      and not exists (select from pg_depend d where d.classid = loose.classid and d.objid = loose.oid and d.deptype in ('e', 'i'))
  loop
    select format('drop %s %s cascade', replace(type, '-', ' '), identity) into statement
    from pg_identify_object(item.classid, item.oid, 0) where identity is not null;
    if statement is not null then execute statement; end if;
  end loop;

  for space in
    select oid, nspname, nspname <> 'public' and not exists (
        select from pg_depend d
        where d.refclassid = 'pg_namespace'::regclass and d.refobjid = n.oid
          and (d.classid = 'pg_extension'::regclass or exists (
            select from pg_depend e where e.classid = d.classid and e.objid = d.objid and e.deptype = 'e'
          ))
      ) as goes
    from pg_namespace n
    where (oid >= 16384 or nspname = 'public') and nspname !~ '^pg_'
      and not exists (select from pg_depend d where d.classid = 'pg_namespace'::regclass and d.objid = n.oid and d.deptype = 'e')
  loop
    if space.goes then
      execute format('drop schema %I cascade', space.nspname);
    else
      loop
        -- One at a time, because each takes others with it. 'i' and 'e' go with what they belong to; a column does so
        -- by itself, e.g. the key of a partitioned table, which says nothing about the table.
        select format('drop %s %s cascade', replace(o.type, 'statistics object', 'statistics'), o.identity) into statement
        from pg_depend d, pg_identify_object(d.classid, d.objid, 0) o
        where d.refclassid = 'pg_namespace'::regclass and d.refobjid = space.oid and d.deptype = 'n'
          and d.classid <> 'pg_extension'::regclass
          and not exists (
            select from pg_depend e
            where e.classid = d.classid and e.objid = d.objid and e.objsubid = 0 and e.deptype in ('e', 'i')
          )
        limit 1;
        exit when not found;
        execute statement;
      end loop;
    end if;
  end loop;

  perform lo_unlink(oid) from pg_largeobject_metadata;

  -- What new objects would be granted. A rule goes when it says what holds without it.
  ${clearDefaultPrivileges("pg_has_role(defaclrole, 'usage')")}

  select n.oid, nspacl, nspowner into space from pg_namespace n where nspname = 'public';
  if space.oid is null then
    create schema public;
    select n.oid, nspacl, nspowner into space from pg_namespace n where nspname = 'public';
  end if;
  if pg_has_role(space.nspowner, 'usage') then
    select r.oid::regrole as owner into item from pg_roles r
    where case when current_setting('server_version_num')::int >= 150000 then rolname = 'pg_database_owner' else r.oid = 10 end;
    if pg_has_role(item.owner, 'member') then execute format('alter schema public owner to %s', item.owner); end if;
    for item in select distinct a.grantee from pg_namespace n, aclexplode(n.nspacl) a where n.oid = space.oid loop
      execute format('revoke all on schema public from %s cascade',
        case when item.grantee = 0 then 'public' else item.grantee::regrole::text end);
    end loop;
    select nspowner::regrole as owner into item from pg_namespace n where n.oid = space.oid;
    execute format('grant all on schema public to %s', item.owner);
    grant ${isPublicForAll ? "all" : "usage"} on schema public to public;
    comment on schema public is 'standard public schema';
  end if;
end
$prologue$;
`;

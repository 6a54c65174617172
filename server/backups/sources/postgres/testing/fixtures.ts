// For the tests of the PostgreSQL source: a database with objects of all kinds, and how to compare it after a restore.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { expect } from "vitest";
import { createLocalHost } from "../../../../hosts/local.ts";
import { postgresTools, type PostgresServer } from "../../../testing/postgres-server.ts";
import { createCollector } from "../../../testing/collector.ts";
import { soon } from "../../../../testing/soon.ts";
import { createPostgresSource, type PostgresSourceOptions } from "../source.ts";
import type { Attempt } from "../../source.ts";

const run = promisify(execFile);

export const never = new AbortController().signal;

export const environment = { PATH: process.env["PATH"] ?? "", HOME: "/tmp" };

export function makeSource(url: string, options: Partial<PostgresSourceOptions> = {}) {
  const said: string[] = [];
  const source = createPostgresSource({
    host: createLocalHost(environment),
    name: "shop",
    url,
    ...options,
  });
  const attempt = (signal: AbortSignal = never, id = 7): Attempt => ({
    id,
    say: (line) => void said.push(line),
    signal,
  });
  const dump = async () => {
    const { into, content } = createCollector();
    const manifest = await source.dump(into, attempt());
    if (manifest.kind !== "database") throw new Error("not a database's manifest");
    return { manifest, archive: content() };
  };
  return { source, said, attempt, dump };
}

/** Returns what a backup must preserve: the schema as pg_dump writes it, a digest of each table's rows, the large objects. */
export async function fingerprint(server: PostgresServer, database: string) {
  const { stdout } = await run(join(postgresTools, "pg_dump"), [
    "--schema-only",
    `--dbname=${server.url(database)}`,
  ]);
  const relations = await server.query<{ name: string; columns: string }>(
    database,
    `select c.oid::regclass::text as name,
       case relkind when 'S' then 'last_value, is_called' else '*' end as columns from pg_class c join pg_namespace n on n.oid = relnamespace
     where relkind in ('r', 'm', 'S') and nspname !~ '^pg_' and nspname <> 'information_schema' order by 1`,
  );
  // One query for all tables, because connecting takes longer than a query.
  const digests = relations.map(
    ({ name, columns }) =>
      `select ${pg.escapeLiteral(name)} as name, count(*), md5(string_agg(r::text, '|' order by r::text)) from (select ${columns} from ${name}) r`,
  );
  const rows =
    digests.length === 0
      ? []
      : await server.query(database, `${digests.join(" union all ")} order by 1`);
  const objects = await server.query(
    database,
    "select oid, lomowner::regrole::text, lomacl::text, md5(lo_get(oid)) from pg_largeobject_metadata order by 1",
  );
  // pg_dump writes a random key after \restrict.
  return { schema: stdout.replace(/^\\(un)?restrict .*$/gm, ""), rows, objects };
}

/** Creates objects of all kinds that a dump can contain, owned by the account that runs it. */
export const everything = `
  create schema "Üblich";
  create schema app;
  create extension citext;
  create extension hstore with schema app;
  comment on extension citext is 'our own words';
  create type app.mood as enum ('sad', 'ok', 'happy "quoted"');
  create domain app.percent as int check (value between 0 and 100);
  create type app.pair as (a int, b text);
  create type app.span as range (subtype = int);
  create function app.twice(int) returns int language sql immutable as 'select $1 * 2';
  create procedure app.nothing() language plpgsql as 'begin end';
  create aggregate app.total(int) (sfunc = int4pl, stype = int, initcond = '0');
  create operator app.=~= (leftarg = int, rightarg = int, function = int4eq);
  create collation app.german (locale = 'C');
  create text search configuration app.search (copy = simple);
  create table public.users (
    id serial primary key, name text not null unique, email app.hstore, mood app.mood default 'ok',
    doubled int generated always as (length(name) * 2) stored, photo bytea, at timestamptz, score numeric, share app.percent
  );
  create statistics public.dependent on name, mood from public.users;
  insert into public.users (name, photo, mood, at, score, share)
    select 'näme ☃ ' || n || E'\\t\\\\N\\n\\\\.', case when n % 3 = 0 then null else decode(md5(n::text), 'hex') end, 'happy "quoted"',
      '2024-02-29 12:00:00.123456+00', n / 7.0, n % 101 from generate_series(1, 500) n;
  insert into public.users (name, score) values ('', 'NaN');
  create table app."Odd.Table ""x""" (id bigint generated always as identity (start 1000 increment 7), "select" text[], j jsonb, pair app.pair);
  insert into app."Odd.Table ""x""" ("select", j, pair) values ('{a,NULL,"b c"}', '{"ü": [1, null]}', (1, null)), (null, null, null);
  create table app.orders (id int primary key, user_id int not null references public.users on delete cascade deferrable initially deferred);
  create index on app.orders (user_id) where id > 10;
  create index on public.users (lower(name), app.twice(id));
  create table app.events (id int, day date not null, note text) partition by range (day);
  create table app.events_old partition of app.events for values from (minvalue) to ('2024-01-01');
  create table app.events_new partition of app.events default;
  insert into app.events select n, '2023-12-01'::date + n, 'e' from generate_series(1, 100) n;
  create index on app.events (id);
  create table app.parent (id int); create table app.child (extra text) inherits (app.parent);
  insert into app.parent values (1); insert into app.child values (2, 'two');
  create unlogged table app.fleeting as select 1 as one;
  create view app.names as select name from public.users where id < 10 with check option;
  create materialized view app.counted as select count(*) from app.orders;
  create unique index on app.counted (count);
  create function app.touch() returns trigger language plpgsql as $$ begin new.name := new.name || '!'; return new; end $$;
  create trigger touching before insert on public.users for each row execute function app.touch();
  create rule quiet as on delete to app.parent do instead nothing;
  alter table app.orders enable row level security;
  create policy mine on app.orders using (id > 0);
  create sequence "Üblich".counter start 5; select nextval('"Üblich".counter'), nextval('"Üblich".counter');
  comment on table public.users is 'It''s; ünïcode';
  grant usage on schema app to public; grant select on public.users to public;
  revoke usage on schema public from public;
  alter default privileges in schema app grant select on tables to public;
  alter default privileges revoke execute on functions from public;
  select lo_from_bytea(4242, decode(repeat('c0ffee00', 5000), 'hex'));
  comment on large object 4242 is 'large';
  do $newer$ declare version int := current_setting('server_version_num'); begin
    if version >= 170000 then
      execute 'grant maintain on app.parent to public';
    end if;
    if version >= 180000 then
      execute 'create table app.newest (a int constraint there not null, b int generated always as (a * 2) virtual, check (a > 7) not enforced)';
      execute 'insert into app.newest values (1), (2)';
      execute 'alter table app.parent add constraint later not null id not valid';
    end if;
  end $newer$;
  select lo_create(4343);
  create extension postgres_fdw;
  create server far foreign data wrapper postgres_fdw options (host 'nowhere');
  create user mapping for public server far options (user 'somebody');
  create foreign table app.distant (id int) server far;
  create publication news for table app.orders;
  create cast (app.pair as text) with inout;
  commit;
  insert into app.orders select n, n from generate_series(1, 300) n;
  commit;
  refresh materialized view app.counted;
`;

/** Objects that are created after a dump: a restore must remove them, and must not fail because of them. */
export const madeLater = `
  create schema later;
  create table later.notes (id serial, user_id int references public.users);
  create table public.later (user_id int references public.users);
  create view later.seen as select * from app.names;
  create function public.later() returns app.mood language sql as $$ select 'sad'::app.mood $$;
  create type public.later_type as enum ('x');
  create aggregate public.later_total(int) (sfunc = int4pl, stype = int);
  create operator public.=~= (leftarg = int, rightarg = int, function = int4eq);
  create statistics public.later_statistics on name, score from public.users;
  create table public.identified (id int generated always as identity, r app.span);
  create type public.later_range as range (subtype = int);
  create text search dictionary public.later_words (template = simple);
  create extension pg_trgm;
  create publication later for all tables;
  alter table app.orders add column later text default 'x';
  alter table public.users disable trigger all;
  drop materialized view app.counted;
  alter default privileges grant all on tables to public;
  alter default privileges in schema public grant all on tables to public;
  grant all on schema public to public;
  comment on schema public is 'changed';
  select lo_from_bytea(5555, 'later');
  select lo_unlink(4343);
  delete from app.orders where id > 5;
  insert into public.users (name) values ('later');
  create server farther foreign data wrapper postgres_fdw;
  create function later.refuse() returns event_trigger language plpgsql as $$ begin raise exception 'no drops'; end $$;
  create event trigger refusing on sql_drop execute function later.refuse();
`;

/** Expects no sessions of Quarterdeck on a server, and no databases beside those that are backed up. */
export async function expectNothingLeft(server: PostgresServer): Promise<void> {
  const sessions = await server.query(
    "postgres",
    "select application_name from pg_stat_activity where application_name like 'quarterdeck%'",
  );
  const databases = await server.query(
    "postgres",
    "select datname from pg_database where datname like 'quarterdeck%'",
  );
  expect({ sessions, databases }).toEqual({ sessions: [], databases: [] });
}

/** Waits until a restore or drill copies rows. */
export async function untilRestoring(server: PostgresServer): Promise<void> {
  await soon(async () => {
    const restoring = await server.query(
      "postgres",
      "select from pg_stat_activity where application_name ~ '^quarterdeck (restore|drill)' and xact_start is not null and query ~* '^copy'",
    );
    expect(restoring).not.toEqual([]);
  });
}

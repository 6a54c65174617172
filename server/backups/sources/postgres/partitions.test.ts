import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { casesOf } from "../../../testing/long-form.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../../testing/postgres-server.ts";
import { fingerprint, makeSource } from "./testing/fixtures.ts";

/** Cases of `npm test`: each way in which parts of the dump depend on each other. */
const inShort = [
  "partitioned by hash, with keys onto and from it",
  "partitioned, with its partitions in another schema",
];

/** Tables that depend on parts of themselves, or on each other across two schemas. */
const families = {
  "partitioned by range, with an index, a default and a sub-partition": `
    create table p (id int not null, day date not null default '2024-06-01', note text default 'n') partition by range (day);
    create table p_old partition of p for values from (minvalue) to ('2024-01-01');
    create table p_new partition of p for values from ('2024-01-01') to (maxvalue) partition by range (id);
    create table p_new_low partition of p_new for values from (minvalue) to (100);
    create table p_new_rest partition of p_new default;
    create index on p (note);
    insert into p select n, '2023-12-01'::date + n from generate_series(1, 200) n`,
  "partitioned by list of an expression": `
    create table p (kind text, n int) partition by list (lower(kind));
    create table p_a partition of p for values in ('a');
    create table p_rest partition of p default;
    insert into p values ('A', 1), ('b', 2)`,
  "partitioned by hash, with keys onto and from it": `
    create table accounts (id int primary key);
    insert into accounts select generate_series(1, 20);
    create table p (id int primary key, account int references accounts) partition by hash (id);
    create table p_0 partition of p for values with (modulus 2, remainder 0);
    create table p_1 partition of p for values with (modulus 2, remainder 1);
    create table notes (p_id int references p on delete cascade);
    insert into p select n, n from generate_series(1, 20) n;
    insert into notes values (1), (2)`,
  "partitioned, its numbers drawn from a sequence": `
    create table p (id bigserial, at date, primary key (id, at)) partition by range (at);
    create table p_all partition of p default;
    insert into p (at) values ('2024-01-01'), ('2024-01-02')`,
  "partitioned, without a partition": `
    create table p (id int) partition by range (id)`,
  "partitioned, with a detached and an attached partition": `
    create table p (id int not null, note text) partition by range (id);
    create table p_gone partition of p for values from (0) to (10);
    create table p_stays partition of p for values from (10) to (20);
    create table p_joins (note text, id int not null);
    create index on p (id);
    insert into p values (1, 'a'), (11, 'b');
    insert into p_joins values ('c', 21);
    alter table p detach partition p_gone;
    alter table p attach partition p_joins for values from (20) to (30)`,
  "partitioned, with its partitions in another schema": `
    create table public.p (id int) partition by range (id);
    create table app.p_low partition of public.p for values from (minvalue) to (10);
    create table app.q (id int) partition by range (id);
    create table public.q_low partition of app.q for values from (minvalue) to (10);
    insert into public.p values (1); insert into app.q values (2)`,
  "partitioned, with a trigger, a policy, a view and statistics": `
    create table p (id int, n int generated always as (id * 2) stored) partition by range (id);
    create table p_all partition of p default;
    create function touch() returns trigger language plpgsql as $$ begin return new; end $$;
    create trigger touching before insert on p for each row execute function touch();
    alter table p enable row level security;
    create policy mine on p using (id > 0);
    create view seen as select id from p;
    create statistics related on id, n from p;
    insert into p (id) values (1), (2)`,
  "with children that inherit": `
    create table p (id int generated always as identity, note text check (note <> ''));
    create table p_child (extra int) inherits (p);
    create table p_grandchild () inherits (p_child);
    insert into p (note) values ('a'); insert into p_child (id, note) values (7, 'b')`,
  "beside and of an extension": `
    create extension hstore; create extension citext;
    create table p (id int, key citext, tags hstore) partition by range (id);
    create table p_all partition of p default;
    insert into p values (1, 'Ä', 'a=>b')`,
};
describe.skipIf(!hasPostgresServer)("a PostgreSQL database with tables", () => {
  let server: PostgresServer;
  let databases = 0;

  beforeAll(async () => {
    server = await startPostgresServer();
  });
  afterAll(() => server.stop());

  const makeDatabase = async (owner?: string) => {
    const name = `family_${(databases += 1)}`;
    await server.createDatabase(name, owner);
    return name;
  };

  test.each(casesOf(families, inShort))(
    "%s is restored, passes its drill, and is removed if it was created later",
    async (_, sql) => {
      const database = await makeDatabase();
      const { source, attempt, dump } = makeSource(server.url(database));
      await server.query(database, "create schema app; create table first as select 1 as one");
      const before = await fingerprint(server, database);
      const earlier = await dump();
      await server.query(database, sql);
      const after = await fingerprint(server, database);
      const { archive, manifest } = await dump();

      await source.restore(Readable.from([archive]), attempt());
      expect(await fingerprint(server, database)).toEqual(after);
      expect(await source.drill(Readable.from([archive]), manifest, attempt())).toMatch(
        / restored exactly, by the count and the checksum of each table\.$/,
      );
      await source.restore(Readable.from([earlier.archive]), attempt());
      expect(await fingerprint(server, database)).toEqual(before);
    },
  );

  test("a drill fails whenever a restore would, because it restores over the same objects", async () => {
    // A member that does not inherit may give a schema to the role, and may not drop it.
    await server.query(
      "postgres",
      "create role team; create role keeper login password 'keep' noinherit createdb in role team",
    );
    const name = await makeDatabase("keeper");
    const { source, attempt, dump } = makeSource(
      server.url(name, { user: "keeper", password: "keep" }),
    );
    await server.query(name, "create schema shared authorization team");
    const { archive, manifest } = await dump();
    const refusal = /must be owner of schema shared/;
    await expect(source.drill(Readable.from([archive]), manifest, attempt())).rejects.toThrow(
      refusal,
    );
    await expect(source.restore(Readable.from([archive]), attempt())).rejects.toThrow(refusal);
  });
});

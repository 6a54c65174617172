import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { zstdCompressSync } from "node:zlib";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import {
  hasPostgresServer,
  startPostgresServer,
  toolsMajor,
  type PostgresServer,
} from "../../testing/postgres-server.ts";
import {
  everything,
  expectNothingLeft,
  fingerprint,
  madeLater,
  environment,
  makeSource as makeSourceOn,
  never,
  untilRestoring,
} from "./testing/fixtures.ts";
import { createCollector } from "../../testing/collector.ts";
import { SourceError } from "../source.ts";
import type { Host } from "../../../hosts/host.ts";
import { createLocalHost } from "../../../hosts/local.ts";
import { createRemoteServer } from "../../../ssh/testing/remote-server.ts";
import { startCuttableLink } from "../../../testing/cuttable-link.ts";
import { inLongForm, isLongForm } from "../../../testing/long-form.ts";

/** Database for tests that do not change it, with 20 MB: more than all buffers on the way hold, even compressed. */
const large = "large";
const makesLarge = `create table big as
  select n, (select string_agg(md5(n::text || i), '') from generate_series(1, 30) i) as filler from generate_series(1, 20000) n`;

/** Catches the error at once, because the test awaits it later. */
const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "It did not fail.",
    (error: Error) => error.message,
  );

const remote = createRemoteServer();
let server: PostgresServer;
let databases = 0;

beforeAll(async () => {
  if (!hasPostgresServer) return;
  server = await startPostgresServer();
  await server.query(
    "postgres",
    "create role owner login password 'own' createdb; create role other login password 'oth'",
  );
  await server.createDatabase(large);
  await server.query(large, makesLarge);
});
afterAll(() => server?.stop());

describe.skipIf(!hasPostgresServer).each([
  { machine: "this machine", hostOf: async () => createLocalHost(environment) },
  { machine: "a remote server", hostOf: remote.host },
])("a PostgreSQL database on $machine", ({ machine, hostOf }) => {
  // What the database decides does not depend on the machine, but takes ten times as long over SSH; `npm run soak -- sources`
  // tests some of it there.
  const isNear = machine === "this machine";
  let host: Host;
  const makeSource = (url: string) => makeSourceOn(url, { host });

  beforeAll(async () => {
    host = await hostOf();
  });

  const owner = { user: "owner", password: "own" };
  const other = { user: "other", password: "oth" };

  const makeDatabase = async (sql = "", account?: string) => {
    const name = `shop ${(databases += 1)} "ü"`;
    await server.createDatabase(name, account);
    if (sql !== "") await server.query(name, sql);
    return name;
  };

  let everythingDumped: ReturnType<typeof makeEverythingDump> | null = null;
  const makeEverythingDump = async () => {
    const database = await makeDatabase(everything);
    return { database, ...(await makeSource(server.url(database)).dump()) };
  };
  const dumpEverything = () => (everythingDumped ??= makeEverythingDump());

  test("is restored exactly, without what was created later", async () => {
    const database = await makeDatabase(everything);
    const { source, attempt, dump, said } = makeSource(server.url(database));
    const before = await fingerprint(server, database);
    const { manifest, archive } = await dump();
    expect(manifest.tables).toMatchObject({
      "public.users": 501,
      "app.events_old": 30,
      "app.events_new": 70,
      "app.parent": 1,
      "large objects": 2,
    });
    await server.query(database, madeLater);
    await source.restore(Readable.from([archive]), attempt());
    expect(await fingerprint(server, database)).toEqual(before);
    // Newer versions have one more table, with features of theirs.
    expect(await source.drill(Readable.from([archive]), manifest, attempt())).toMatch(
      /^(?:8 tables with 906|9 tables with 908) rows and 2 large objects restored exactly, by the count and the checksum of each table\.$/,
    );
    await expectNothingLeft(server);
    // Warnings of the server itself during restore and drill, because the tests' server has no replication.
    const warning = "Warning: wal_level is insufficient to publish logical changes";
    // Quoted since PostgreSQL 17.
    expect(said.map((line) => line.replaceAll('"', ""))).toEqual([warning, warning]);
  });

  // oxlint-disable-next-line vitest/no-conditional-tests -- see above
  if (isNear || isLongForm) {
    test("an abort ends a dump", async () => {
      const { source, attempt } = makeSource(server.url(large));
      const into = new PassThrough().on("error", () => undefined);
      const controller = new AbortController();
      const dumping = failureOf(source.dump(into, attempt(controller.signal)));
      await once(into, "readable");
      controller.abort(new Error("enough"));
      expect(await dumping).toBe("enough");
      expect(into.destroyed).toBe(true);
    });

    test("an abort in the middle of a restore or drill leaves everything unchanged", async () => {
      const { source, attempt, dump } = makeSource(server.url(large));
      const { archive, manifest } = await dump();
      await server.query(
        large,
        "update big set filler = '' where n = 1; drop table if exists later; create table later ()",
      );
      const before = await fingerprint(server, large);
      async function* stalling() {
        yield archive.subarray(0, archive.length / 2);
        await new Promise(() => undefined);
      }
      const works = [
        (signal: AbortSignal) => source.restore(Readable.from(stalling()), attempt(signal)),
        (signal: AbortSignal) => source.drill(Readable.from(stalling()), manifest, attempt(signal)),
      ];
      for (const work of works) {
        const controller = new AbortController();
        const working = failureOf(work(controller.signal));
        await Promise.race([
          untilRestoring(server),
          working.then((reason) => expect(reason).toBe("under way")),
        ]);
        controller.abort(new Error("enough"));
        expect(await working).toBe("enough");
        await expectNothingLeft(server);
      }
      expect(await fingerprint(server, large)).toEqual(before);
    });

    test("reports what is wrong when it cannot be reached", async () => {
      const database = await makeDatabase();
      const wrong = makeSource(server.url(database, { user: "postgres", password: "wrong" }));
      await expect(wrong.source.rehearse(never)).rejects.toThrow(
        /refuses the password of postgres/,
      );
      await expect(wrong.dump()).rejects.toThrow(/refuses the password of postgres/);
      await expect(wrong.source.exists()).rejects.toThrow(SourceError);
      const missing = makeSource(server.url("nowhere"));
      await expect(missing.source.rehearse(never)).rejects.toThrow(/has no database nowhere/);
      expect(await missing.source.exists()).toBe(false);
      const closed = makeSource("postgres://postgres:x@127.0.0.1:1/shop");
      await expect(closed.source.rehearse(never)).rejects.toThrow(/Nothing answers at 127.0.0.1:1/);
      const unknown = makeSource("postgres://postgres:x@nowhere.invalid/shop");
      await expect(unknown.source.rehearse(never)).rejects.toThrow(
        /host nowhere.invalid is not known/,
      );
      const right = makeSource(server.url(database));
      expect(await right.source.exists()).toBe(true);
      expect(await right.source.rehearse(never)).toMatch(
        /^PostgreSQL \d+\.\d+ answers; pg_dump \d+\.\d+\.$/,
      );
    });

    test("a server that is newer than the tools is refused, with the fix", async ({ skip }) => {
      skip(toolsMajor >= 18, "The tools are as new as the newest server that is there.");
      const { host, user, password = "", port = 5432 } = inject("postgres");
      const url = `postgres://${user}:${encodeURIComponent(password)}@localhost:${port}/postgres?host=${host}`;
      const { source, dump } = makeSource(url);
      const refusal =
        /^pg_dump \d+ is older than the server \(PostgreSQL 18\.\d+\) and refuses to dump it\. Install postgresql-client-18 or newer\.$/;
      await expect(source.rehearse(never)).rejects.toThrow(refusal);
      await expect(dump()).rejects.toThrow(refusal);
    });

    test("a broken archive leaves everything unchanged", async () => {
      const { database, archive } = await dumpEverything();
      const { source, attempt } = makeSource(server.url(database));
      await server.query(database, madeLater);
      const before = await fingerprint(server, database);
      const share = (part: number) => archive.subarray(0, Math.floor(archive.length * part));
      const archives = [
        archive.subarray(0, -1),
        Buffer.from("no archive"),
        share(0.5),
        share(0),
        share(0.01),
        share(0.9),
      ];
      for (const broken of isNear && isLongForm ? archives : archives.slice(0, 2))
        await expect(
          source.restore(Readable.from([broken], { objectMode: false }), attempt()),
        ).rejects.toThrow(SourceError);
      async function* damaged() {
        yield share(0.9);
        throw new Error("damaged on the way");
      }
      await expect(source.restore(Readable.from(damaged()), attempt())).rejects.toThrow(
        "damaged on the way",
      );
      expect(await fingerprint(server, database)).toEqual(before);
      await expectNothingLeft(server);
    });

    inLongForm(() => {
      test("a dump fails if the server stops in the middle", async () => {
        const { source, attempt } = makeSource(server.url(large));
        const into = new PassThrough().on("error", () => undefined);
        const dumping = failureOf(source.dump(into, attempt()));
        await once(into, "readable");
        await server.crash();
        into.resume();
        expect(await dumping).toMatch(/^shop: /);
        expect(into.destroyed).toBe(true);
        await server.start();
      });
    });

    test("ends and drops what a kill left on the server", async () => {
      const database = await makeDatabase("create table one ()");
      const { source, attempt } = makeSource(server.url(database));
      const left = new pg.Client({
        connectionString: server.url(database),
        application_name: "quarterdeck restore 7",
      });
      left.on("error", () => undefined);
      await left.connect();
      await left.query("begin; drop table one");
      await server.createDatabase("quarterdeck_drill_7");
      expect(await source.settle(attempt())).toBe("unknown");
      await expectNothingLeft(server);
      await server.query(database, "select from one");
      expect(await source.settle(attempt())).toBe("unknown");
    });
  }

  // oxlint-disable-next-line vitest/no-conditional-tests -- see above
  if (isNear) {
    inLongForm(() => {
      test("an empty one is restored empty", async () => {
        const database = await makeDatabase();
        const { source, attempt, dump } = makeSource(server.url(database));
        const before = await fingerprint(server, database);
        const { manifest, archive } = await dump();
        expect(manifest.tables).toEqual({});
        await server.query(database, everything);
        await source.restore(Readable.from([archive]), attempt());
        expect(await fingerprint(server, database)).toEqual(before);
        expect(await source.drill(Readable.from([archive]), manifest, attempt())).toBe(
          "0 tables with 0 rows restored exactly, by the count and the checksum of each table.",
        );
      });
    });

    test("an owner who is not a superuser restores it, with own extensions and those of others", async () => {
      const database = await makeDatabase("create extension pageinspect", "owner");
      const asOwner = new pg.Client(server.url(database, owner));
      await asOwner.connect();
      await asOwner.query(
        "create extension citext; create schema app; create extension hstore schema app",
      );
      await asOwner.query(
        "create table app.users (name citext); insert into app.users values ('Ä'); create function public.one() returns int language sql as 'select 1'",
      );
      await asOwner.query("select lo_from_bytea(77, 'mine')");
      const { source, attempt, dump, said } = makeSource(server.url(database, owner));
      const before = await fingerprint(server, database);
      const { archive } = await dump();
      await asOwner.query(
        "create table later (id serial); create type kind as enum ('x'); alter table app.users add more int; select lo_unlink(77)",
      );
      await asOwner.end();
      await source.restore(Readable.from([archive]), attempt());
      expect(await fingerprint(server, database)).toEqual(before);
      expect(said).toEqual([]);
    });

    test("a missing database is created, and removed again if the restore fails", async () => {
      const { archive, manifest } = await dumpEverything();
      const { source, attempt, dump, said } = makeSource(server.url("missing"));
      await expect(
        source.restore(Readable.from([archive.subarray(0, archive.length / 2)]), attempt()),
      ).rejects.toThrow(SourceError);
      expect(await source.exists()).toBe(false);
      await source.restore(Readable.from([archive]), attempt());
      expect(said).toContain("Created the database missing.");
      expect((await dump()).manifest).toEqual(manifest);
      // The state after a kill before the first statement, of this installation, of its earlier version, and of another installation.
      const half = makeSourceOn(server.url("half"), { host, installation: "i1" });
      for (const [mark, state] of [
        ["7 i1", "as it was"],
        ["7", "as it was"],
        ["7 i2", "unknown"],
      ]) {
        await server.query("postgres", "create database half");
        await server.query("postgres", `comment on database half is 'quarterdeck restore ${mark}'`);
        expect(await half.source.settle(half.attempt()), mark).toBe(state);
        expect(await half.source.exists(), mark).toBe(state === "unknown");
      }
      // It is whole once it was restored, whoever made it.
      const another = makeSourceOn(server.url("half"), { host, installation: "i2" });
      await half.source.restore(Readable.from([archive]), half.attempt());
      expect(await another.source.settle(another.attempt())).toBe("unknown");
      await server.query("postgres", "drop database half");
      await half.source.restore(Readable.from([archive]), half.attempt());
      expect(await half.source.settle(half.attempt())).toBe("unknown");
      expect(await half.source.exists()).toBe(true);
      expect(await source.settle(attempt())).toBe("unknown");
      expect(await source.exists()).toBe(true);
      const powerless = makeSource(server.url("nowhere", other));
      await expect(
        powerless.source.restore(Readable.from([archive]), powerless.attempt()),
      ).rejects.toThrow(/ALTER ROLE "other" CREATEDB/);
    });

    test.each([true, false])(
      "a database that someone else creates meanwhile stays unchanged (new: %o)",
      async (isNew) => {
        const { archive } = await dumpEverything();
        const name = `meanwhile_${isNew}`;
        const late: Host = {
          ...host,
          async run(command) {
            if (command.argv.includes("--create") && command.argv.includes("--schema-only"))
              await server.query("postgres", `create database ${name}`);
            return host.run(command);
          },
        };
        const { source, attempt } = makeSourceOn(server.url(name), { host: late, isNew });
        await expect(source.restore(Readable.from([archive]), attempt())).rejects.toThrow(
          isNew ? `already has a database “${name}”. Nothing was changed.` : "already exists",
        );
        expect(await source.exists()).toBe(true);
        await server.query("postgres", `drop database ${name}`);
      },
    );

    test("a drill reports what differs, and leaves nothing", async () => {
      const database = await makeDatabase("create table one (); create table two as select 1");
      const { source, attempt, dump } = makeSource(server.url(database));
      const { archive } = await dump();
      const drill = (tables: Record<string, number>) =>
        source.drill(Readable.from([archive]), { kind: "database", tables }, attempt());
      await server.createDatabase("quarterdeck_drill_7");
      await expect(drill({ "public.two": 2, "public.three": 1 })).rejects.toThrow(
        "The restored data differs: public.one was not in the database; public.three is missing; public.two has 1 instead of 2 rows.",
      );
      await expectNothingLeft(server);
      expect(await drill({ "public.one": 0, "public.two": 1 })).toBe(
        "2 tables with 1 row restored with the same row counts; the backup has no checksums of its rows.",
      );
      expect(await source.drill(Readable.from([archive]), null, attempt())).toMatch(/^2 tables/);
      await server.query(database, "grant select on one, two to other");
      const powerless = makeSource(server.url(database, other));
      expect(await powerless.source.rehearse(never)).toMatch(
        /A drill would be refused: other may not/,
      );
      await expect(
        powerless.source.drill(Readable.from([archive]), null, powerless.attempt()),
      ).rejects.toThrow(/ALTER ROLE "other" CREATEDB/);
      await expectNothingLeft(server);
    });
  }
});

test.skipIf(!hasPostgresServer)(
  "a restore or drill over SSH transfers compressed data, in both directions",
  async () => {
    const database = "regular";
    await server.createDatabase(database);
    await server.query(
      database,
      "create table big as select n, repeat(md5(n::text), 30) as filler from generate_series(1, 20000) n",
    );
    const link = await startCuttableLink((await remote.sshd()).port);
    onTestFinished(link.close);
    const host = await remote.hostAt(link.port);
    const { source, attempt, dump } = makeSourceOn(server.url(database), { host });
    const { archive, manifest } = await dump();
    const before = await fingerprint(server, database);
    await server.query(database, "drop table big");
    const moved = async (work: Promise<unknown> | undefined) => {
      const start = link.passedBytes();
      await work;
      return (link.passedBytes() - start) / archive.length;
    };
    const packed = Readable.from([zstdCompressSync(archive)]);
    const unpacking = await source.unpacking?.(never);
    expect(await moved(unpacking?.restore(packed, attempt()))).toBeLessThan(0.5);
    expect(await fingerprint(server, database)).toEqual(before);
    expect(await moved(source.drill(Readable.from([archive]), manifest, attempt()))).toBeLessThan(
      0.5,
    );
    await expectNothingLeft(server);
  },
);

inLongForm(() => {
  test.skipIf(!hasPostgresServer)(
    "an imported archive is stored unchanged, even if a server over SSH reads it",
    async () => {
      const { source, attempt, dump } = makeSourceOn(server.url(large), {
        host: await remote.host(),
      });
      const { archive } = await dump();
      const file = {
        kind: "postgres-archive",
        words: "",
        content: Readable.from([archive]),
      } as const;
      const intake = source.intake?.(file);
      await intake?.prepare?.(attempt());
      const { into, content } = createCollector();
      expect(await intake?.dump(into, attempt())).toMatchObject({
        tables: { "public.big": 20_000 },
      });
      expect(content().equals(archive)).toBe(true);
      await intake?.discard?.(attempt());
    },
  );
});

// Refusals of a move between databases of the tests' own PostgreSQL. server/commands/move-database.test.ts tests complete moves.
import { randomBytes } from "node:crypto";
import pg from "pg";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { administer, createDatabase } from "../../testing/service.ts";
import { withClient } from "../../testing/with-client.ts";
import { openDatabase } from "../database.ts";
import { readMoveMark, writeMoveMark, type MoveMark } from "../move-mark.ts";
import { installationId } from "../settings.ts";
import { explainMoveError } from "./move-error.ts";
import { cancelMove, moveDatabase } from "./move.ts";
import type { SideOptions } from "./side.ts";

const silent = {
  onStart: () => undefined,
  onBytes: () => undefined,
  onTable: () => undefined,
  onCheck: () => undefined,
};

const sideOf = (database: string, connection: pg.ClientConfig = {}): SideOptions => {
  onTestFinished(() => administer(`drop database if exists ${database} with (force)`));
  return { connection: { ...inject("postgres"), ...connection, database }, embeddedIn: null };
};

/** Creates a database as after a first start, with an installation id. */
async function madeSource(): Promise<SideOptions> {
  const side = sideOf(await createDatabase());
  const { db, close } = await openDatabase(side.connection, () => undefined);
  await installationId(db);
  await close();
  return side;
}

async function emptyTarget(): Promise<SideOptions> {
  const database = `test_${randomBytes(6).toString("hex")}`;
  await administer(`create database ${database}`);
  return sideOf(database);
}

const ask = <Row extends pg.QueryResultRow>(
  { connection }: SideOptions,
  statement: string,
): Promise<Row[]> =>
  withClient(connection, async (client) => (await client.query<Row>(statement)).rows);

const countTables = (side: SideOptions) =>
  ask(
    side,
    "select count(*)::int from pg_class where relkind in ('r', 'p', 'S') and relnamespace::regnamespace::text in ('public', 'drizzle', 'pgboss')",
  );
const empty = [{ count: 0 }];

const markOf = ({ connection }: SideOptions) => withClient(connection, readMoveMark);

const setMark = ({ connection }: SideOptions, mark: MoveMark) =>
  withClient(connection, (client) => writeMoveMark(client, mark));

describe("a refused target stays unchanged", () => {
  test("with another Quarterdeck's data", async () => {
    const [source, target] = [await madeSource(), await madeSource()];
    await ask(target, "insert into settings values ('mine', 'stays')");
    await expect(moveDatabase(source, target, silent)).rejects.toThrow(
      /it is not empty, but has drizzle, pgboss, public\.\w+ and \d+ more tables of another/,
    );
    expect(await ask(target, "select value from settings where key = 'mine'")).toHaveLength(1);
    expect(await markOf(source)).toBeNull();
  });

  test("with another Quarterdeck's data that was moved away from it", async () => {
    const [source, target] = [await madeSource(), await madeSource()];
    await setMark(target, { id: "x", state: "left", place: "x", isEmbedded: false, at: "x" });
    await expect(moveDatabase(source, target, silent)).rejects.toThrow("it is not empty");
  });

  test("in use by a Quarterdeck", async () => {
    const [source, target] = [await madeSource(), await emptyTarget()];
    const client = new pg.Client({ ...target.connection, application_name: "quarterdeck" });
    await client.connect();
    onTestFinished(() => client.end());
    await expect(moveDatabase(source, target, silent)).rejects.toThrow(
      /Other programs are using .*: \d+ \(quarterdeck, user quarterdeck\)\. Stop Quarterdeck/,
    );
  });

  test("whose rows differ at the end", async () => {
    const [source, target] = [await madeSource(), await emptyTarget()];
    await ask(source, "insert into settings values ('one', 'row')");
    // Simulates any cause that changes a row, such as a faulty disk or a foreign trigger.
    await ask(
      target,
      `create function spoil() returns event_trigger language plpgsql as $$
       begin
         if exists (select from settings where key = 'one') then update settings set value = 'rov' where key = 'one'; end if;
       end $$;
       create event trigger spoil on ddl_command_end when tag in ('ALTER TABLE') execute function spoil()`,
    );
    await expect(moveDatabase(source, target, silent)).rejects.toThrow(
      /Table settings is not the same in both databases: 3 rows with checksum -?\d+ in .*, 3 with -?\d+ in .*\. The move was undone/,
    );
    expect(await countTables(target)).toEqual(empty);
    expect(await markOf(source)).toBeNull();
  });
});

describe("a source is refused if it", () => {
  test("is the target", async () => {
    const source = await madeSource();
    await expect(moveDatabase(source, source, silent)).rejects.toThrow("are the same");
  });

  test("was never used by a Quarterdeck", async () => {
    await expect(moveDatabase(await emptyTarget(), await emptyTarget(), silent)).rejects.toThrow(
      "There is nothing to move",
    );
  });

  test.each([
    ["+", "A newer version of Quarterdeck"],
    ["-", "Start this version on it once"],
  ])("was stored by another version (%s)", async (sign, words) => {
    const source = await madeSource();
    await ask(source, `update drizzle.__drizzle_migrations set created_at = created_at ${sign} 1`);
    await expect(moveDatabase(source, await emptyTarget(), silent)).rejects.toThrow(words);
  });

  test("has another version of the job engine", async () => {
    const [source, target] = [await madeSource(), await emptyTarget()];
    await ask(source, "update pgboss.version set version = version - 1");
    await expect(moveDatabase(source, target, silent)).rejects.toThrow(
      /pgboss\.version\. Start this/,
    );
    expect(await countTables(target)).toEqual(empty);
  });
});

describe("an interrupted move", () => {
  const left: Pick<MoveMark, "place" | "isEmbedded" | "at"> = {
    place: "the database elsewhere at db:5432",
    isEmbedded: false,
    at: "2026-01-01T00:00:00.000Z",
  };

  test("after the target's commit: the source does not start, and repeating the command finishes it", async () => {
    const [source, target] = [await madeSource(), await emptyTarget()];
    expect(await moveDatabase(source, target, silent)).toBe("moved");
    const mark = await markOf(source);
    expect(mark).toMatchObject({ state: "left" });
    // As if the move had been interrupted just before its end.
    await setMark(source, { ...left, ...mark, id: mark?.id ?? "", state: "leaving" });
    await expect(openDatabase(source.connection, () => undefined)).rejects.toThrow(
      /was interrupted at its end.*Run the same move-database command again/,
    );
    await ask(target, "insert into settings values ('since', 'then')");
    expect(await moveDatabase(source, target, silent)).toBe("finished");
    expect(await markOf(source)).toMatchObject({ state: "left" });
    expect(await ask(target, "select from settings where key = 'since'")).toHaveLength(1);
  });

  test("before the target's commit: repeating the command makes it", async () => {
    const [source, target] = [await madeSource(), await emptyTarget()];
    const { host, port = 5432, database } = { port: 5432, ...target.connection };
    const place = `the database ${database} at ${host}:${port}`;
    await setMark(source, { ...left, id: "x", state: "leaving", place });
    expect(await moveDatabase(source, target, silent)).toBe("moved");
    expect(await markOf(target)).toMatchObject({ state: "arrived" });
    const { close } = await openDatabase(target.connection, () => undefined);
    await close();
  });

  test("cannot continue to another target, nor be repeated once complete, until it is canceled", async () => {
    const [source, target] = [await madeSource(), await emptyTarget()];
    await setMark(source, { ...left, id: "x", state: "leaving" });
    await expect(moveDatabase(source, target, silent)).rejects.toThrow(
      "to the database elsewhere at db:5432 was interrupted at its end. Run that one again",
    );
    await setMark(source, { ...left, id: "x", state: "left" });
    await expect(moveDatabase(source, target, silent)).rejects.toThrow(
      "was moved to the database elsewhere at db:5432 at 2026-01-01T00:00:00.000Z. Move it from there",
    );
    expect(await cancelMove(source)).toMatchObject({ other: left.place });
    expect(await cancelMove(source)).toMatchObject({ other: null });
    expect(await moveDatabase(source, target, silent)).toBe("moved");
  });
});

test("a full disk is reported with its fix", () => {
  const error = Object.assign(new Error("could not extend file"), { code: "53100" });
  expect(explainMoveError(error, "the database x").message).toMatch(
    /^The disk of the database x is full\..*Free some space/,
  );
});

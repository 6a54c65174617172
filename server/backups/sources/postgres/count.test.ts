import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../../testing/postgres-server.ts";
import { countRows, listTables } from "./count.ts";

describe.skipIf(!hasPostgresServer)("the checksum of a table", () => {
  let server: PostgresServer;
  let client: pg.Client;
  beforeAll(async () => {
    server = await startPostgresServer();
    client = new pg.Client(server.url("postgres"));
    client.on("error", () => undefined);
    await client.connect();
  });
  afterAll(async () => {
    await client?.end();
    await server?.stop();
  });

  /** @param made what comes after `create table name` */
  const sumOf = async (made: string): Promise<string | undefined> => {
    await client.query(`drop table if exists public.one; create table public.one ${made}`);
    const { checksums } = await countRows(client, await listTables(client));
    return checksums?.tables["public.one"];
  };

  const values = (rows: string, columns = "a, b") =>
    `as select * from (values ${rows}) as v (${columns})`;

  test("does not depend on the order of rows and columns", async () => {
    const sum = await sumOf(values("(1, 'x'), (2, 'y')"));
    expect(sum).toMatch(/^-?\d+$/);
    expect(await sumOf(values("(2, 'y'), (1, 'x')"))).toBe(sum);
    expect(await sumOf(values("('x', 1), ('y', 2)", "b, a"))).toBe(sum);
  });

  test.each([
    ["a value", "('p', 'x'), ('q', 'y')", "('p', 'x'), ('q', 'z')"],
    ["the row of a value", "('p', 'x'), ('q', 'y')", "('p', 'y'), ('q', 'x')"],
    ["the column of a value", "('p', 'x')", "('x', 'p')"],
    ["the border between columns", "('pq', 'x')", "('p', 'qx')"],
    ["a null instead of an empty text", "('p', '')", "('p', null)"],
    ["the column of a null", "(null, '')", "('', null)"],
    ["a row twice instead of another", "('p', ''), ('q', '')", "('p', ''), ('p', '')"],
  ])("changes with %s", async (_, one, other) => {
    expect(await sumOf(values(one))).not.toBe(await sumOf(values(other)));
  });

  test("changes with a value in the last of as many columns as a table can have", async () => {
    const wide = (last: number) =>
      `as select ${Array.from({ length: 1600 }, (_, at) => `${at === 1599 ? last : at}::smallint as c${String(at).padStart(4, "0")}`).join(", ")}`;
    await client.query("set max_stack_depth = '100kB'");
    const sum = await sumOf(wide(1));
    expect(await sumOf(wide(1))).toBe(sum);
    expect(await sumOf(wide(2))).not.toBe(sum);
    await client.query("reset max_stack_depth");
  });

  test("equals that of earlier versions for the same rows", async () => {
    const types = 'id int, a text, b varchar(9), c char(4), d bool, e text collate "C"';
    const rows =
      "(1, 'x', 'y', 'z ', true, ''), (2, null, '', null, false, 'é'), (3, '', null, '', null, null)";
    expect(await sumOf(`(${types}); insert into public.one values ${rows}`)).toBe(
      "-7139564912252850575",
    );
  });

  test("equals that of earlier versions for numbers and uuids", async () => {
    const types = "a smallint, b int, c bigint, d uuid, e numeric";
    const rows =
      "(-7, 2147483647, -9223372036854775808, 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 1.50), (null, null, null, null, null), (0, 0, 0, null, 0)";
    expect(await sumOf(`(${types}); insert into public.one values ${rows}`)).toBe(
      "-10744324781818925770",
    );
  });

  test("of an empty table is that of no rows", async () => {
    expect(await sumOf("()")).toBe("0");
    expect(await sumOf("(a int)")).toBe("0");
  });
});

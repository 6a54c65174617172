// Tests tables, names and servers of which an ordinary dump or restore would silently lose something.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { inLongForm, casesOf } from "../../../testing/long-form.ts";
import { startMariadbServer, type MariadbServer } from "../../testing/mariadb-server.ts";
import {
  attemptOf,
  pictureOf,
  scratchDatabases,
  sourceOf,
  streamOf,
  takeDump,
} from "./testing/fixtures.ts";

let server: MariadbServer;
let scratch: string;
let name: string;
let count = 0;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "quarterdeck-mysql-"));
  server = await startMariadbServer();
});
afterAll(async () => {
  await server?.stop();
  await rm(scratch, { recursive: true, force: true });
});
beforeEach(async () => {
  name = `odd_${(count += 1)}`;
  await server.createDatabase(name);
});

const url = () => server.url(name);
const sql = (text: string) => server.query(name, text);
const picture = () => pictureOf(server, url());
const expectNothingLeft = async () => {
  expect(await scratchDatabases(server)).toBe("");
  expect(await readdir(scratch)).toEqual([]);
};

const exactly = /exactly, by the count and the checksum of each table\.$/;

/** Dumps, drills, and restores over another state. */
async function expectRoundTrip(since: string): Promise<void> {
  const before = await picture();
  const source = sourceOf(url(), scratch);
  const { content, manifest } = await takeDump(source);
  expect(await source.drill(streamOf(content), manifest, attemptOf(2))).toMatch(exactly);
  await sql(since);
  await source.restore(streamOf(content), attemptOf(3), manifest);
  expect(await picture()).toBe(before);
  await expectNothingLeft();
}

/** With floats, the server dumps the rows instead of the tool. */
const withFloats =
  "CREATE OR REPLACE TABLE rounded (f FLOAT); INSERT INTO rounded VALUES (0.1234567);";

type Odd = {
  sql: string;
  /** Statements that run after the backup. */
  since: string;
  /** Checks after the restore. */
  after?: () => Promise<void>;
};

const plain: Record<string, Odd> = {
  "several columns of a table that ask sequences for their defaults": {
    sql: "CREATE SEQUENCE one; CREATE SEQUENCE other; CREATE TABLE t (a INT DEFAULT NEXTVAL(one), b INT DEFAULT (NEXTVAL(other) + LASTVAL(one))); INSERT INTO t VALUES ();",
    since: "DELETE FROM t;",
    after: async () => void (await sql("INSERT INTO t VALUES ()")),
  },
  "a foreign key to a table that is not there": {
    sql: "SET foreign_key_checks=0; CREATE TABLE child (p INT, q INT, CONSTRAINT lost FOREIGN KEY (p) REFERENCES gone (id) ON DELETE CASCADE); INSERT INTO child VALUES (7, 8); SET foreign_key_checks=1;",
    since: "DELETE FROM child;",
    after: async () =>
      expect(await sql("SHOW CREATE TABLE child")).toContain("REFERENCES `gone` (`id`)"),
  },
  "rows that say since when they are as they are": {
    sql: "CREATE TABLE prices (id INT PRIMARY KEY, price INT, since TIMESTAMP(6) GENERATED ALWAYS AS ROW START, until TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (since, until)) WITH SYSTEM VERSIONING; SET timestamp=1700000000; INSERT INTO prices (id, price) VALUES (1, 2);",
    since: "UPDATE prices SET price = 3;",
  },
};
const beside: Record<string, Odd> = {
  "tables that show the rows of others, and FLOAT columns": {
    sql: `CREATE TABLE first (a INT) ENGINE=MyISAM; CREATE TABLE second LIKE first; CREATE TABLE both_of (a INT) ENGINE=MERGE UNION=(first, second) INSERT_METHOD=LAST; CREATE TABLE fixed (a INT) ENGINE=MERGE UNION=(first, second); INSERT INTO first VALUES (1); INSERT INTO second VALUES (2); ${withFloats}`,
    since: "DELETE FROM first;",
  },
  "columns that have line breaks in their names, and FLOAT columns": {
    sql: `CREATE TABLE \`lines\` (\`a\nb\` INT, \`c\td\` INT COMMENT 'x\n) ENGINE=InnoDB;\n'); INSERT INTO \`lines\` VALUES (1, 2); ${withFloats}`,
    since: "DELETE FROM `lines`;",
  },
};

/** Combines several cases in one database. */
const together = (odd: Record<string, Odd>): Odd => ({
  sql: Object.values(odd)
    .map((one) => one.sql)
    .join("\n"),
  since: Object.values(odd)
    .map((one) => one.since)
    .join("\n"),
  async after() {
    for (const one of Object.values(odd)) await one.after?.();
  },
});
const allPlain = "sequences as defaults, a foreign key to nothing and rows with their times";
const allBeside = "rows of others, line breaks in names, and FLOAT columns";

describe("a database is restored exactly", () => {
  test.each(
    casesOf({ ...plain, ...beside, [allPlain]: together(plain), [allBeside]: together(beside) }, [
      allPlain,
      allBeside,
    ]),
  )("with %s", async (_, odd) => {
    await sql(odd.sql);
    await expectRoundTrip(odd.since);
    await odd.after?.();
  });
});

describe("on a server with its own settings", () => {
  const each = {
    autocommit: { autocommit: "0" },
    tx_read_only: { tx_read_only: "1" },
    max_statement_time: { max_statement_time: "0.001" },
  };
  const cases = { ...each, "all of them": Object.assign({}, ...Object.values(each)) };
  const usual = {
    autocommit: "1",
    tx_read_only: "0",
    max_statement_time: "0",
    sql_select_limit: "18446744073709551615",
  };
  const set = (settings: Record<string, string>) =>
    server.query(
      null,
      Object.entries(settings)
        .map(([name, value]) => `SET GLOBAL ${name}=${value}`)
        .join("; "),
    );
  afterEach(() => set(usual));

  test.each(casesOf(cases, ["all of them"]))(
    "a database is restored completely, with %s",
    async (_, settings: Record<string, string>) => {
      await sql(
        `CREATE TABLE a (id INT PRIMARY KEY); INSERT INTO a VALUES (1), (2); CREATE TABLE z (id INT); INSERT INTO z VALUES (3), (4); ${withFloats}`,
      );
      const before = await picture();
      const source = sourceOf(url(), scratch);
      await set(settings);
      const { content, manifest } = await takeDump(source);
      expect(await source.drill(streamOf(content), manifest, attemptOf(2))).toMatch(exactly);
      await source.restore(streamOf(content), attemptOf(3), manifest);
      await set(usual);
      expect(await picture()).toBe(before);
      await expectNothingLeft();
    },
  );

  inLongForm(() => {
    test("names tables for which the server uses another engine before they replace the existing ones", async () => {
      await sql(
        "CREATE TABLE a (id INT PRIMARY KEY); CREATE TABLE b (a INT, FOREIGN KEY (a) REFERENCES a (id)); CREATE TABLE c (id INT) ENGINE=Aria",
      );
      const source = sourceOf(url(), scratch);
      const { content, manifest } = await takeDump(source);
      const attempt = attemptOf(3);
      await source.restore(streamOf(content), attempt, manifest);
      expect(attempt.said).toEqual([]);
      await server.query(null, "SET GLOBAL enforce_storage_engine=Aria");
      try {
        await source.restore(streamOf(content), attempt, manifest);
      } finally {
        await server.query(null, "SET GLOBAL enforce_storage_engine=NULL");
      }
      expect(attempt.said.join()).toMatch(
        /in another engine than in the backup.*: a \(Aria, was InnoDB\), b \(Aria, was InnoDB\)\. /,
      );
    });
  });

  test("refuses a dump that the server would truncate, and says how to raise the limit", async () => {
    await sql("CREATE TABLE a (id INT); INSERT INTO a VALUES (1), (2); CREATE TABLE b (id INT)");
    await server.query(null, "SET GLOBAL sql_select_limit=1");
    await expect(takeDump(sourceOf(url(), scratch))).rejects.toThrow(
      /answers 1 rows at most.*SET GLOBAL sql_select_limit = 18446744073709551615;/,
    );
  });
});

test("a table with a line break in its name fails the run instead of a restore", async () => {
  await sql("CREATE TABLE `a\nb` (id INT); INSERT INTO `a\nb` VALUES (1)");
  await expect(takeDump(sourceOf(url(), scratch))).rejects.toThrow(
    /has a line break in its name.*"a\\nb"\. Rename it\./,
  );
});

inLongForm(() => {
  test("distinguishes tables whose names differ only in case or accents when single ones are restored", async () => {
    await sql(
      "CREATE TABLE cafe (a INT); CREATE TABLE Cafe (a INT, later INT); CREATE TABLE `café` (a INT); INSERT INTO cafe VALUES (1); INSERT INTO Cafe VALUES (2, 2); INSERT INTO `café` VALUES (3); CREATE TABLE other (id INT PRIMARY KEY AUTO_INCREMENT); INSERT INTO other VALUES (1); CREATE TABLE Other (id INT PRIMARY KEY AUTO_INCREMENT) AUTO_INCREMENT=900; CREATE TRIGGER upper BEFORE INSERT ON Cafe FOR EACH ROW SET @x = 1; CREATE TRIGGER `lower` BEFORE INSERT ON cafe FOR EACH ROW SET @x = 2",
    );
    // The server lists names that it considers equal in any order.
    const lines = async () => (await picture()).split("\n").sort();
    const before = await lines();
    const { content, manifest } = await takeDump(sourceOf(url(), scratch));
    await sql("DELETE FROM cafe; DELETE FROM other");
    const tables = ["cafe", "other"];
    await sourceOf(url(), scratch, undefined, tables).restore(
      streamOf(content),
      attemptOf(3),
      manifest,
    );
    expect(await lines()).toEqual(before);
    await expectNothingLeft();
  });
});

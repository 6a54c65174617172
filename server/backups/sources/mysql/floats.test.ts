import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startMariadbServer, type MariadbServer } from "../../testing/mariadb-server.ts";
import {
  attemptOf,
  everything,
  scratchDatabases,
  sourceOf,
  streamOf,
  takeDump,
} from "./testing/fixtures.ts";
import { inLongForm } from "../../../testing/long-form.ts";

let server: MariadbServer;
let scratch: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "quarterdeck-mysql-"));
  server = await startMariadbServer();
});
afterAll(async () => {
  await server?.stop();
  await rm(scratch, { recursive: true, force: true });
});

const makeDatabase = async (name: string, sql: string) => {
  await server.createDatabase(name);
  await server.query(name, sql);
  return sourceOf(server.url(name), scratch);
};

/** Columns of each type, with values that lose precision as text. */
const measured = `
CREATE TABLE measured (id INT UNSIGNED ZEROFILL PRIMARY KEY AUTO_INCREMENT, f FLOAT, u FLOAT UNSIGNED NOT NULL DEFAULT 0, fixed FLOAT(9,2), d DOUBLE, n DECIMAL(30,10), big BIGINT UNSIGNED,
  t TEXT, l VARCHAR(80) CHARACTER SET latin1, sj VARCHAR(80) CHARACTER SET sjis, c CHAR(5), b BLOB, bn BINARY(3), bt BIT(11), e ENUM('a','b''c'), s SET('x','y'), j JSON, dt DATETIME(6), dd DATE, tm TIME(3), ts TIMESTAMP NULL, y YEAR, g GEOMETRY, ip INET6, uid UUID,
  twice DOUBLE AS (f * 2) STORED, shown VARCHAR(40) AS (CONCAT('f', f)) VIRTUAL, hidden INT INVISIBLE DEFAULT 3) DEFAULT CHARSET=utf8mb4;
SET sql_mode='';
INSERT INTO measured (f, u, fixed, d, n, big, t, l, sj, c, b, bn, bt, e, s, j, dt, dd, tm, ts, y, g, ip, uid, hidden) VALUES
  (99999.99, 16777217, 1234567.89, 0.1 + 0.2e0, 12345678901234567890.0123456789, 18446744073709551615, 'it''s "a"\\\\ \\n\\r\\t\\0\\Z, ü 🦜 (x),\\n(y);', 'é', 'ソ\\\\表', 'a  ', 0x000A0D5C27FF, 0x61, b'10101010101', 'b''c', 'x,y', '{"a": "\\\\n"}', '0000-00-00 00:00:00', '2024-00-00', '-838:59:59.999', '2020-02-03 04:05:06', 2155, POINT(1.5, -2), '::1', UUID(), 9),
  (-0e0, 3.4028234e38, NULL, -0e0, NULL, 0, '', '', '', '', '', '', 0, '', '', NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL),
  (1.17549435e-38, 1.1, 0.1, 2.2250738585072014e-308, 0, 1, 'NULL', 'NULL', NULL, 'NULL', 'NULL', 'NUL', NULL, NULL, NULL, '[]', '9999-12-31 23:59:59.999999', '1000-01-01', '00:00:00.001', NULL, 1901, LINESTRING(POINT(0, 0), POINT(1e300, 1)), NULL, NULL, 0);
INSERT INTO measured (f, d) SELECT RAND(seq) * POW(10, seq % 60) * 1e-30, RAND(seq) * POW(10, seq % 400 / 2) * 1e-100 FROM seq_1_to_2000;
CREATE TABLE \`odd \`\`table\` (\`odd \`\`column\` FLOAT) ENGINE=MyISAM;
INSERT INTO \`odd \`\`table\` VALUES (0.333333343);
CREATE TABLE later (f FLOAT);
CREATE TRIGGER filling AFTER INSERT ON measured FOR EACH ROW INSERT INTO later VALUES (NEW.f);
`;

const tables = "parent, child, kinds, `odd ``name`, nothing, mine, measured, `odd ``table`, later";
const checksums = `CHECKSUM TABLE ${tables} EXTENDED; SELECT id, HEX(b), HEX(sj), twice, shown, hidden, dt, tm, HEX(c) FROM measured; SHOW CREATE TABLE measured`;

describe("a database with FLOAT columns", () => {
  test("is restored bit for bit, with a column of each other type, objects and triggers", async () => {
    const source = await makeDatabase("floats", everything.replaceAll(/^ALTER DATABASE.*$/gm, ""));
    await server.query("floats", measured);
    const before = await server.query("floats", checksums);
    const { content, manifest } = await takeDump(source);
    expect(manifest).toMatchObject({
      tables: { parent: 3, measured: 2003, "odd `table": 1, later: 0 },
    });
    await server.query(
      "floats",
      "UPDATE measured SET f = 1; DROP TABLE later, kinds; DELETE FROM mine",
    );
    await source.restore(streamOf(content, 65_536), attemptOf(1));
    expect(await server.query("floats", checksums)).toBe(before);
    expect(await source.drill(streamOf(content), manifest, attemptOf(1))).toBe(
      "9 tables with 2,016 rows restored exactly, by the count and the checksum of each table.",
    );
    await server.query(null, "DROP DATABASE floats; CREATE DATABASE floats CHARACTER SET utf8mb4");
    await server.query("floats", content.toString());
    expect(await server.query("floats", checksums)).toBe(before);
    expect(await scratchDatabases(server)).toBe("");
    expect(await readdir(scratch)).toEqual([]);
  });

  inLongForm(() => {
    test("is a consistent snapshot, whatever is written meanwhile", async () => {
      const source = await makeDatabase(
        "moving",
        "CREATE TABLE a (f FLOAT, t LONGTEXT); CREATE TABLE z (f FLOAT); INSERT INTO a SELECT 1, REPEAT('x', 100000) FROM seq_1_to_200; INSERT INTO z VALUES (99999.99)",
      );
      const attempt = attemptOf(2);
      const into = new PassThrough();
      const dumping = source.dump(into, attempt);
      let text = "";
      const pieces: AsyncIterable<Buffer> = into;
      for await (const piece of pieces) {
        if (text === "") await server.query("moving", "DELETE FROM z; DELETE FROM a");
        text += piece.toString("latin1");
      }
      expect(await dumping).toMatchObject({ tables: { a: 200, z: 1 } });
      expect(text).toContain("(99999.9921875)");
    });
  });
});

inLongForm(() => {
  test("a drill fails if a row differs, though none is missing", async () => {
    const source = await makeDatabase(
      "changed",
      "CREATE TABLE notes (id INT, note TEXT); INSERT INTO notes VALUES (1, 'one'), (2, 'two')",
    );
    const { content, manifest } = await takeDump(source);
    const changed = Buffer.from(content.toString().replace("'two'", "'owt'"));
    await expect(source.drill(streamOf(changed), manifest, attemptOf(3))).rejects.toThrow(
      "The restored data differs from the backup: the rows of notes are not the same.",
    );
    if (manifest.kind !== "database") throw new Error("The manifest is of another kind.");
    const { checksums: made, ...counted } = manifest;
    expect(await source.drill(streamOf(content), counted, attemptOf(3))).toBe(
      "1 table with 2 rows restored with the same row counts; the backup has no checksums of its rows.",
    );
    const other = { ...counted, checksums: { by: "another tool", tables: { notes: "00" } } };
    expect(made?.by).toMatch(/^mariadb-dump .* of MariaDB \d+\.\d+$/);
    expect(await source.drill(streamOf(content), other, attemptOf(3))).toContain(
      "restored with the same row counts; their checksums cannot be compared, because another tool made the backup's",
    );
  });
});

inLongForm(() => {
  test("the backup reports a row that is longer than the server accepts in a statement", async () => {
    const source = await makeDatabase(
      "long_rows",
      "CREATE TABLE files (b LONGBLOB); INSERT INTO files VALUES (REPEAT('x', 700000))",
    );
    const whole = attemptOf(4);
    await takeDump(source, whole);
    expect(whole.said).toEqual([]);
    await server.query(null, "SET GLOBAL max_allowed_packet = 1048576");
    const attempt = attemptOf(4);
    const { content, manifest } = await takeDump(source, attempt);
    expect(attempt.said.join()).toContain(
      "files has a row of 1.4 MB as SQL, and the server takes 1 MB in one statement (max_allowed_packet), so a restore or drill would be refused. Allow it on the server with: SET GLOBAL max_allowed_packet = 2097152;",
    );
    await expect(source.drill(streamOf(content), manifest, attemptOf(4))).rejects.toThrow(
      /max_allowed_packet|connection to .* was lost/,
    );
    await server.query("long_rows", "ALTER TABLE files ADD f FLOAT DEFAULT 1");
    await expect(takeDump(source)).rejects.toThrow("Raise max_allowed_packet on the server.");
    await server.query(null, "SET GLOBAL max_allowed_packet = 2097152");
    expect(await source.drill(streamOf(content), manifest, attemptOf(4))).toContain("exactly");
    await server.query(null, "SET GLOBAL max_allowed_packet = DEFAULT");
  });
});

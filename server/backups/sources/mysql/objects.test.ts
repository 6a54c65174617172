// Tests objects that refer by name to the database, to a definer, or to each other.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startMariadbServer, type MariadbServer } from "../../testing/mariadb-server.ts";
import {
  attemptOf,
  everything,
  pictureOf,
  scratchDatabases,
  sourceOf,
  streamOf,
  takeDump,
} from "./testing/fixtures.ts";
import { inLongForm } from "../../../testing/long-form.ts";

let server: MariadbServer;
let scratch: string;
let databases = 0;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "quarterdeck-mysql-"));
  server = await startMariadbServer();
  await server.query(null, "CREATE DATABASE elsewhere; CREATE TABLE elsewhere.far (a INT)");
});
afterAll(async () => {
  await server?.stop();
  await rm(scratch, { recursive: true, force: true });
});

async function makeDatabase(sql: string): Promise<{ database: string; url: string }> {
  const database = `objects_${(databases += 1)}`;
  await server.createDatabase(database);
  await server.query(database, sql.replaceAll("THIS_ONE", database));
  return { database, url: server.url(database) };
}

const expectNothingLeft = async () => {
  expect(await scratchDatabases(server)).toBe("");
  expect(await readdir(scratch)).toEqual([]);
};

/** Creates objects that depend on the database's name, a missing definer, an SQL mode, or each other. */
const clinging = `
CREATE TABLE t (a INT); INSERT INTO t VALUES (1);
CREATE VIEW z AS SELECT * FROM t WHERE a > 0; CREATE VIEW m AS SELECT * FROM z; CREATE VIEW a AS SELECT z.a FROM m JOIN z;
CREATE VIEW b AS SELECT * FROM z WHERE a < 9 WITH CASCADED CHECK OPTION;

CREATE USER gone; GRANT ALL ON *.* TO gone;
CREATE DEFINER=gone VIEW gone_v AS SELECT a FROM t; CREATE VIEW x AS SELECT * FROM gone_v; CREATE VIEW c AS SELECT * FROM gone_v;
CREATE DEFINER=gone VIEW gone_b AS SELECT c.a FROM gone_v JOIN x JOIN c;
CREATE DEFINER=gone PROCEDURE p() SELECT 1; CREATE DEFINER=gone TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET @x = 1;
DROP USER gone;
CREATE USER narrow; GRANT SELECT ON THIS_ONE.* TO narrow;
CREATE DEFINER=narrow VIEW narrow_v AS SELECT a FROM t; CREATE VIEW upon_narrow AS SELECT a FROM narrow_v;

CREATE SEQUENCE s; CREATE TABLE THIS_ONE (a INT, THIS_ONE INT DEFAULT NEXTVAL(s)); INSERT INTO THIS_ONE (a) VALUES (1);
CREATE VIEW numbers AS SELECT NEXTVAL(s) AS n, THIS_ONE.a FROM THIS_ONE; CREATE VIEW namesake AS SELECT THIS_ONE.THIS_ONE FROM THIS_ONE;

CREATE FUNCTION f(x INT) RETURNS INT DETERMINISTIC RETURN x;
CREATE VIEW far_z AS SELECT t.a, far.a AS b, f(t.a) AS c FROM t JOIN elsewhere.far;
CREATE VIEW far_a AS SELECT far_z.a, '\`THIS_ONE\`.\`z\` it''s' AS text, THIS_ONE.a AS q FROM far_z JOIN elsewhere.far AS THIS_ONE;

SET sql_mode=ORACLE;
DELIMITER //
CREATE PACKAGE pk AS FUNCTION f RETURN INT; PROCEDURE p; END//
CREATE PACKAGE BODY pk AS FUNCTION f RETURN INT AS BEGIN RETURN 5; END; PROCEDURE p AS BEGIN SELECT f(); END; END//
DELIMITER ;
CREATE VIEW packaged AS SELECT pk.f() AS x;
`;

test("restores packages and views that refer to names in a drill, into an empty database and over themselves", async () => {
  const { database, url } = await makeDatabase(clinging);
  const source = sourceOf(url, scratch);
  const before = await pictureOf(server, url);
  const { content, manifest } = await takeDump(source);
  await server.query(null, `DROP DATABASE ${database}`);
  expect(await source.drill(streamOf(content), manifest, attemptOf(1))).toBe(
    "2 tables with 2 rows restored exactly, by the count and the checksum of each table.",
  );
  await source.restore(streamOf(content), attemptOf(1));
  expect(await pictureOf(server, url)).toBe(before);
  await source.restore(streamOf(content), attemptOf(1));
  expect(await pictureOf(server, url)).toBe(before);
  await expectNothingLeft();
});

test("privileges on routines stay, even if the restore is undone", async () => {
  const { database, url } = await makeDatabase(
    `CREATE TABLE t (a INT); CREATE PROCEDURE p() SELECT 1; CREATE FUNCTION f() RETURNS INT RETURN 1;
     CREATE EVENT e ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01 00:00:00' DO SELECT 1;
     SET sql_mode=ORACLE;\nDELIMITER //
     CREATE PACKAGE pk AS FUNCTION f RETURN INT; END//
     CREATE PACKAGE BODY pk AS FUNCTION f RETURN INT AS BEGIN RETURN 5; END; END//
     DELIMITER ;
     CREATE USER caller; CREATE ROLE callers; GRANT EXECUTE ON PROCEDURE p TO caller WITH GRANT OPTION;
     GRANT EXECUTE, ALTER ROUTINE ON FUNCTION f TO callers; GRANT EXECUTE ON PACKAGE pk TO caller; GRANT EXECUTE ON PACKAGE BODY pk TO PUBLIC;
     CREATE USER plain IDENTIFIED BY 'x'; GRANT ALL ON THIS_ONE.* TO plain; GRANT ALL ON \`quarterdeck\\_%\`.* TO plain; GRANT SELECT ON mysql.proc TO plain`,
  );
  const grants = () =>
    server.query(
      null,
      "SELECT User, Host, Routine_name, Routine_type, Proc_priv FROM mysql.procs_priv ORDER BY 1, 2, 3, 4",
    );
  const before = await grants();
  const plain = sourceOf(server.url(database, { user: "plain", password: "x" }), scratch);
  const { content } = await takeDump(sourceOf(url, scratch));
  await server.query(database, "CREATE OR REPLACE PROCEDURE p() SELECT 2");
  await plain.restore(streamOf(content), attemptOf(1));
  expect(await server.query(database, "CALL p()")).toBe("1\n");
  expect(await grants()).toBe(before);

  await server.query(
    database,
    "CREATE PROCEDURE later() SELECT 1; GRANT EXECUTE ON PROCEDURE later TO caller, callers, PUBLIC",
  );
  const withLater = await grants();
  const refused = Buffer.from(content.toString("latin1").replace("EVERY 1 DAY", "EVERY 0 DAY"));
  const undone = attemptOf(2);
  await expect(sourceOf(url, scratch).restore(streamOf(refused), undone)).rejects.toThrow(
    "INTERVAL",
  );
  expect(undone.said).toEqual([]);
  expect(await grants()).toBe(withLater);
  // This account can neither read nor grant privileges on a routine that the backup lacks.
  const lost = attemptOf(3);
  await expect(plain.restore(streamOf(refused), lost)).rejects.toThrow("INTERVAL");
  expect(lost.said).toContain(
    `Privileges on routines of ${database} may be lost, because 'plain'@'%' may not read them: grant EXECUTE again to the accounts that had it only on PROCEDURE later.`,
  );
  expect(await grants()).toBe(before);
  await expectNothingLeft();
});

test("objects that name their database are created in the one that is restored into", async () => {
  const from = await makeDatabase(
    `CREATE TABLE t (a INT); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT t.a FROM t LEFT JOIN elsewhere.far ON true;
     CREATE TRIGGER THIS_ONE.one\n  BEFORE INSERT ON THIS_ONE.t FOR EACH ROW SET NEW.a = 5; CREATE TRIGGER \`THIS_ONE\` . \`t\`\`wo\` AFTER DELETE ON \`THIS_ONE\`.\`t\` FOR EACH ROW SET @x = 1`,
  );
  const { content } = await takeDump(sourceOf(from.url, scratch));
  await server.query(from.database, "DROP TRIGGER one; DROP TRIGGER `t``wo`");
  const into = await makeDatabase("DO 0");
  await sourceOf(into.url, scratch).restore(streamOf(content), attemptOf(2));
  await server.query(from.database, "UPDATE t SET a = 2");
  expect(await server.query(into.database, "SELECT * FROM v")).toBe("1\n");
  const triggers =
    "SELECT TRIGGER_SCHEMA, TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_NAME IN ('one', 't`wo') ORDER BY 2";
  expect(await server.query(null, triggers)).toBe(
    `${into.database}\tone\n${into.database}\tt\`wo\n`,
  );
});

inLongForm(() => {
  describe("over views without their tables", () => {
    const healthy =
      "CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a FROM t; CREATE VIEW upon AS SELECT a FROM v";
    const everyDay =
      "CREATE EVENT e ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01 00:00:00' DO SELECT 1";

    test("a failing restore names the views that it could not recreate, and a successful one restores everything", async () => {
      const { database, url } = await makeDatabase(`${healthy}; ${everyDay}`);
      const before = await pictureOf(server, url);
      const { content } = await takeDump(sourceOf(url, scratch));
      const refused = Buffer.from(content.toString("latin1").replace("EVERY 1 DAY", "EVERY 0 DAY"));
      await server.query(
        database,
        "DROP TABLE t; CREATE TABLE other (b INT); CREATE VIEW whole AS SELECT b FROM other",
      );
      const attempt = attemptOf(1);
      const source = sourceOf(url, scratch);
      await expect(source.restore(streamOf(refused), attempt)).rejects.toThrow("INTERVAL");
      expect(attempt.said.join()).toContain("could not be created again: upon, v.");
      expect(await server.query(database, "SHOW TABLES")).toBe("other\nwhole\n");
      await expectNothingLeft();

      await server.query(
        database,
        "CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a FROM t; CREATE VIEW upon AS SELECT a FROM v; DROP TABLE t",
      );
      await source.restore(streamOf(content), attemptOf(1));
      expect(await pictureOf(server, url)).toBe(before);
      await expectNothingLeft();
    });
  });

  describe("after a failed restore", () => {
    test("restores the settings that a limited account may set, and reports the others", async () => {
      const { database, url } = await makeDatabase(everything);
      await server.query(
        null,
        `CREATE USER limited IDENTIFIED BY 'x'; GRANT ALL ON ${database}.* TO limited; GRANT ALL ON \`quarterdeck\\_%\`.* TO limited; GRANT SELECT ON mysql.proc TO limited`,
      );
      const limited = sourceOf(server.url(database, { user: "limited", password: "x" }), scratch);
      const { content } = await takeDump(limited);
      const before = await pictureOf(server, url);
      const refused = Buffer.from(
        content.toString("latin1").replace("EVERY 1 DAY STARTS", "EVERY 0 DAY STARTS"),
        "latin1",
      );
      const attempt = attemptOf(3);
      await expect(limited.restore(streamOf(refused), attempt)).rejects.toThrow("INTERVAL");
      expect(attempt.said.join()).toContain("they run as this account from now on");
      const ownerless = (picture: string) =>
        picture
          .replace(/DEFINER=`[^`]*`@`[^`]*`/g, "DEFINER")
          .split("\n")
          // The digest of the text that names the objects.
          .slice(0, -1);
      expect(ownerless(await pictureOf(server, url))).toEqual(ownerless(before));
      await expectNothingLeft();
    });
  });
});

// For the tests of MySQL sources: a database with objects of all kinds, and how to tell two of its states apart.
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Host } from "../../../../hosts/host.ts";
import { createLocalHost } from "../../../../hosts/local.ts";
import type { MariadbServer } from "../../../testing/mariadb-server.ts";
import { createCollector } from "../../../testing/collector.ts";
import { createMysqlSource } from "../source.ts";
import type { Attempt, Manifest, Source } from "../../source.ts";

export const testHost = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/nowhere" });

export const sourceOf = (
  url: string,
  scratchFolder: string,
  host: Host = testHost,
  tables: readonly string[] | null = null,
): Source => createMysqlSource({ host, name: "shop", url, scratchFolder, tables });

/** Calls back with the number of each command before it runs, for moments that do not depend on the machine's speed. */
export function countingHost(onCommand: (number: number) => void): Host {
  let number = 0;
  return {
    ...testHost,
    run(command) {
      number += 1;
      onCommand(number);
      return testHost.run(command);
    },
  };
}

/** @param then runs once, before the first script that contains `words` */
export function hookedHost(words: string, then: () => Promise<unknown>): Host {
  let isDone = false;
  return {
    ...testHost,
    async run(command) {
      if (isDone || command.isSmall !== true || command.input === undefined)
        return testHost.run(command);
      const script = await buffer(command.input);
      if (script.includes(words)) {
        isDone = true;
        await then();
      }
      return testHost.run({ ...command, input: Readable.from([script]) });
    },
  };
}

export function attemptOf(id: number, signal = new AbortController().signal) {
  const said: string[] = [];
  return { id, signal, said, say: (line: string) => void said.push(line) } satisfies Attempt & {
    said: string[];
  };
}

export async function takeDump(
  source: Source,
  attempt: Attempt = attemptOf(1),
): Promise<{ content: Buffer; manifest: Manifest }> {
  const { into, content } = createCollector();
  const manifest = await source.dump(into, attempt);
  return { content: content(), manifest };
}

/** Streams content in pieces of an odd size, so that lines are split anywhere. */
export const streamOf = (content: Buffer, pieceBytes = 777): Readable =>
  Readable.from(
    (function* () {
      for (let at = 0; at < content.length; at += pieceBytes)
        yield content.subarray(at, at + pieceBytes);
    })(),
    { objectMode: false },
  );

/** Returns the content of a database as one text: structure, code, and a hash of the rows. */
export async function pictureOf(server: MariadbServer, url: string): Promise<string> {
  const name = decodeURIComponent(new URL(url).pathname.slice(1));
  const database = name.replaceAll("'", "''");
  const text = await server.dump(name);
  const rows = createHash("sha256").update(text, "latin1").digest("hex");
  const sizes = await server.query(
    null,
    `SELECT TABLE_NAME, TABLE_TYPE, ENGINE, AUTO_INCREMENT, IF(TABLE_TYPE = 'SEQUENCE', '', TABLE_COLLATION) FROM information_schema.TABLES WHERE TABLE_SCHEMA='${database}' ORDER BY 1; SELECT * FROM information_schema.SCHEMATA WHERE SCHEMA_NAME='${database}'; SELECT CONSTRAINT_NAME, TABLE_NAME, UNIQUE_CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA='${database}' ORDER BY 1, 2`,
  );
  const structure = text.replace(/^\(.*$/gm, "");
  return `${structure}\n${sizes}\n${rows}`;
}

export const scratchDatabases = (server: MariadbServer): Promise<string> =>
  server.query(null, "SHOW DATABASES LIKE 'quarterdeck%'");

const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString("hex");

export const everything = `
CREATE SEQUENCE numbers START 5 INCREMENT 3;
CREATE TABLE parent (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(80), note TEXT) COMMENT 'it''s (a),
(b)';
CREATE TABLE child (id INT PRIMARY KEY, parent_id INT, self_id INT, CONSTRAINT fk_parent FOREIGN KEY (parent_id) REFERENCES parent (id) ON DELETE CASCADE, CONSTRAINT fk_self FOREIGN KEY (self_id) REFERENCES child (id));
CREATE TABLE kinds (id INT PRIMARY KEY DEFAULT NEXTVAL(numbers), b BLOB, bits BIT(5), j JSON, d DOUBLE, t TIMESTAMP NULL, at POINT, e ENUM('a','b(,)'), g INT GENERATED ALWAYS AS (CHAR_LENGTH(e) * 2) STORED, v VARCHAR(20) AS (CONCAT(e, '!')) VIRTUAL, latin VARCHAR(20) CHARACTER SET latin1);
CREATE TABLE \`odd \`\`name\` (\`a b\` INT, PRIMARY KEY (\`a b\`));
CREATE TABLE nothing (id INT);
CREATE TABLE mine (id INT) ENGINE=MyISAM;
INSERT INTO parent VALUES (1, 'ünïcødé 🦜', 'line\\nline\\r\\nit''s "x" \\\\ \\0 \\Z'), (2, '', NULL), (40, '),(', '(1),\\n(2);\\n-- Dump completed'), (41, '\\'', 'INSERT INTO \`x\` VALUES (1)');
DELETE FROM parent WHERE id = 41;
INSERT INTO child VALUES (1, 1, NULL), (2, 40, 1), (3, NULL, 3);
INSERT INTO kinds (b, bits, j, d, t, at, e, latin) VALUES (0x${allBytes}, b'10101', '{"a": [1, "🦜"]}', 0.1, '2020-02-03 04:05:06', POINT(1, 2), 'b(,)', 'é'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), ('', 0, NULL, -1e300, NULL, NULL, 'a', '');
INSERT INTO \`odd \`\`name\` VALUES (1), (2);
INSERT INTO mine VALUES (7);
CREATE FUNCTION twice(x INT) RETURNS INT DETERMINISTIC RETURN x * 2;
CREATE VIEW z_base AS SELECT id, name FROM parent;
CREATE VIEW a_top AS SELECT name, twice(id) AS id2, 'ü''\\n' AS text FROM z_base;
DELIMITER //
CREATE PROCEDURE fill(IN many INT)
BEGIN
-- Table structure for table \`trap\`
INSERT INTO \`nothing\` VALUES (many);
(SELECT 'ü;;');
END//
CREATE TRIGGER shout BEFORE INSERT ON parent FOR EACH ROW
BEGIN
  SET NEW.name = CONCAT(NEW.name, '!');
END//
CREATE TRIGGER after_child AFTER DELETE ON child FOR EACH ROW INSERT INTO nothing VALUES (OLD.id)//
CREATE EVENT tidy ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01 00:00:00' DO DELETE FROM nothing WHERE id < 0//
DELIMITER ;
ALTER DATABASE CHARACTER SET latin1 COLLATE latin1_german1_ci;
`;

/** Changes the database to another state: each object changed, dropped or new. */
export const otherState = `
DROP VIEW a_top; DROP TRIGGER shout; DROP FUNCTION twice; DROP TABLE mine;
CREATE VIEW mine AS SELECT 1 AS x;
CREATE VIEW late_view AS SELECT * FROM parent;
CREATE TABLE late (id INT PRIMARY KEY, parent_id INT, FOREIGN KEY (parent_id) REFERENCES parent (id));
CREATE TRIGGER late_trigger BEFORE INSERT ON late FOR EACH ROW SET NEW.id = NEW.id + 1;
CREATE PROCEDURE late_procedure() SELECT 2;
CREATE EVENT late_event ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01 00:00:00' DO SELECT 1;
SET foreign_key_checks=0; DELETE FROM child; SET foreign_key_checks=1; UPDATE parent SET name = 'changed'; INSERT INTO late VALUES (1, 1);
ALTER DATABASE CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
`;

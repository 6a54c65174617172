import { describe, expect, test } from "vitest";
import { createSqlLexer } from "../../foreign/sql-lexer.ts";
import { createForeignStatements } from "./foreign-statements.ts";

/** @param text Latin-1, one character per byte, if it has no other characters */
function take(text: string): void {
  const lexer = createSqlLexer("mysql");
  const statements = createForeignStatements();
  for (const piece of [
    ...lexer.write(Buffer.from(text, /[\u0100-\uffff]/.test(text) ? "utf8" : "latin1")),
    ...lexer.end(),
  ])
    if (piece.is === "end") {
      statements.isKept(piece.statement);
      statements.count(piece.statement);
    }
}

describe("a dump of one database", () => {
  test.each([
    ["a grant among triggers", "DELIMITER ;;\nGRANT ALL ON *.* TO x;;\nDELIMITER ;\n", "accounts"],
    ["another database among triggers", "DELIMITER ;;\nDROP TABLE `b`.`t`;;\nDELIMITER ;\n", "“b”"],
    ["the collation of another database", "USE a; ALTER DATABASE `b` COLLATE utf8mb4_bin;", "“b”"],
    [
      "a statement behind another",
      "DELIMITER ;;\nSET @a = 1; GRANT ALL ON *.* TO x;;\n",
      "several statements",
    ],
    ...[
      "PROCEDURE p() BEGIN SELECT 1; END; GRANT ALL ON *.* TO x",
      "PROCEDURE p() SELECT 1; GRANT ALL ON *.* TO x",
      "PROCEDURE p() SELECT begin FROM t; GRANT ALL ON *.* TO x; END",
      "PROCEDURE p() BEGIN SELECT CASE WHEN 1 THEN 2 END FOR UPDATE; END; GRANT ALL ON *.* TO x; END",
      "PROCEDURE p() BEGIN IF 1 THEN SELECT a$case, t.case, @if; END IF; END; DROP TABLE b.t",
      "PROCEDURE p() BEGIN CASE a WHEN end THEN SELECT 1; END CASE; END; SELECT 1; END CASE; END",
      "PROCEDURE p() /*!80000 BEGIN */ SELECT 1; GRANT ALL ON *.* TO x; /*!80000 END */",
      "PROCEDURE p() BEGIN /*!80000 IF 1 THEN */ SELECT 1; END; GRANT ALL ON *.* TO x; END IF; END",
      "PROCEDURE p() BEGIN SELECT 1; END `label`; GRANT ALL ON *.* TO x",
      "FUNCTION f() RETURNS int RETURN 1; SET @a = 1",
      "TRIGGER x BEFORE INSERT ON t FOR EACH ROW IF 1 THEN SET @a = 1; END IF; GRANT ALL ON *.* TO x",
      "EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM t; GRANT ALL ON *.* TO x",
    ].map((text) => [
      `what follows ${text}`,
      `DELIMITER ;;\nCREATE ${text};;`,
      "more stands behind",
    ]),
    [
      "a body without an end",
      "DELIMITER ;;\nCREATE PROCEDURE p() BEGIN SELECT 1;;",
      "where it ends",
    ],
    ["a package", "DELIMITER ;;\nCREATE PACKAGE p AS PROCEDURE q; END;;", "Oracle mode"],
    [
      "texts without escapes",
      "SET sql_mode = 'STRICT_TRANS_TABLES,no_backslash_escapes';",
      "NO_BACKSLASH_ESCAPES",
    ],
    ["names in double quotes", "/*!50003 SET sql_mode = 'ANSI' */ ;", "mode ANSI,"],
    ["a mode kept for later", "SET @saved_sql_mode='ANSI_QUOTES';", "mode ANSI_QUOTES,"],
    ["a mode of two parts", "SET sql_mode = 'NO_BACKSLASH' '_ESCAPES';", "otherwise than dumps"],
    ["a mode with an escape", "SET sql_mode = 'NO\\_BACKSLASH_ESCAPES';", "otherwise than dumps"],
    [
      "a mode that is worked out",
      "SET x = 1, @@session.`sql_mode` = CONCAT('NO_BACK', 'SLASH_ESCAPES');",
      "otherwise than dumps",
    ],
    ["a mode as a number", "SET sql_mode = 1048576;", "otherwise than dumps"],
    [
      "a variable that is set unseen",
      "INSERT INTO t VALUES (@saved_sql_mode := 1);",
      "several statements",
    ],
    [
      "a mode behind a long list",
      `SET ${"@a = 1, ".repeat(600)}sql_mode = 'ANSI';`,
      "otherwise than dumps",
    ],
    [
      "a mode behind many others",
      `SET @x = '${"STRICT_TRANS_TABLES,".repeat(300)}', sql_mode = 'ANSI';`,
      "sets the SQL mode",
    ],
    ...[
      "SET NAMES gbk;",
      "/*!40101 SET NAMES Big5 */;",
      "SET NAMES 'sjis' COLLATE sjis_bin;",
      "SET CHARACTER SET cp932;",
      "/*!50003 SET character_set_client  = gb18030 */ ;",
      "SET a = 1, @@session.`character_set_client` := gbk;",
    ].map((text) => [
      `a character set whose characters may end in a backslash, ${text}`,
      text,
      "sets the character set",
    ]),
    ...[
      "SET NAMES 'gb\\k';",
      "SET character_set_client = 28;",
      "SET character_set_client = 'gbk';",
      "SET character_set_client = CONCAT('g', 'bk');",
      "SET @saved_cs_client = 'gbk';",
      "SET @OLD_CHARACTER_SET_CLIENT = gbk;",
      "SET character_set_client = @other;",
      `SET ${"@a = 1, ".repeat(600)}character_set_client = gbk;`,
    ].map((text) => [
      `a character set that is told otherwise, ${text.slice(-50)}`,
      text,
      "otherwise than dumps",
    ]),
    ...["SET @a = 1 \\C gbk\n;", "\\C gbk\n", "CREATE PROCEDURE p() SELECT 1 \\C gbk\n;"].map(
      (text) => [`a command to the client, ${text}`, text, "a command to its client"],
    ),
    ...[
      "COMMENT ' */; CREATE DATABASE x; -- '",
      "COMMENT ` */; CREATE DATABASE x; -- `",
      "-- */; CREATE DATABASE x; /*\n",
      "# */; CREATE DATABASE x; /*\n",
    ].flatMap((hidden) =>
      ["!80000", "!100301", "M!", "M!100301"].map((version) => [
        `what a server may run that takes ${version} for a comment, ${hidden}`,
        `ALTER TABLE t /*${version} ${hidden} */;`,
        "some servers take for a comment",
      ]),
    ),
    ...["\u0001", "\u007f", "\u0000", "\u00a0"].map((byte) => [
      `what may be a comment, behind ${JSON.stringify(byte)}`,
      `ALTER TABLE t COMMENT 'a' --${byte} '\n; CREATE DATABASE x; -- ';`,
      "some servers take for a comment",
    ]),
    ...[
      "SET NAMES latin1; CREATE\u00a0DATABASE x;",
      "/*!40101 SET character_set_client = cp1250 */; DROP\u00a0USER x;",
      "SET NAMES DEFAULT; DROP\u00a0USER x;",
      "SET NAMES latin1; DELIMITER ;;\nCREATE PROCEDURE p() BEGIN SELECT 1; END\u00a0; DROP USER x; END ;;",
    ].map((text) => [
      `a blank of another character set, ${text}`,
      text,
      "in another character set",
    ]),
    ...["GO x", "'GO'", "GO", "Q", "", ";; x"].map((delimiter) => [
      `a delimiter that a client may read otherwise, ${delimiter}`,
      `DELIMITER ${delimiter}\nSET @a = 1 GO CREATE DATABASE x ${delimiter}\n`,
      "a delimiter that no dump has",
    ]),
    ...["\f", "\v", "\n"].map((blank) => [
      `a delimiter behind ${JSON.stringify(blank)}`,
      `delimiter${blank}GO\nSET @a = 1 GO CREATE DATABASE x GO ;`,
      "a delimiter that no dump has",
    ]),
    ["the second of two tables", "DROP TABLE IF EXISTS a, `b`.`t`;", "“b”"],
    ["where a table is moved to", "ALTER TABLE a RENAME TO b.t;", "“b”"],
    ["what a table is made like", "CREATE TABLE a LIKE b.t;", "“b”"],
    ["a procedure elsewhere", "DROP PROCEDURE IF EXISTS `b`.`p`;", "“b”"],
    [
      "a trigger elsewhere",
      "CREATE TRIGGER b.x BEFORE INSERT ON t FOR EACH ROW SET @a = 1;",
      "“b”",
    ],
    [
      "a trigger on a table elsewhere",
      "CREATE TRIGGER x BEFORE INSERT ON b.t FOR EACH ROW SET @a = 1;",
      "“b”",
    ],
    [
      "a view elsewhere",
      "CREATE DEFINER=`r`@`%` SQL SECURITY DEFINER VIEW `b`.`v` AS SELECT 1;",
      "“b”",
    ],
    [
      "a deletion within another statement",
      "SET STATEMENT max_statement_time=1 FOR DELETE FROM b.t;",
      "nothing that a dump has",
    ],
    ["a deletion that is analyzed", "ANALYZE DELETE FROM b.t;", "nothing that a dump has"],
    [
      "a deletion behind a query",
      "WITH x AS (SELECT 1) DELETE FROM b.t;",
      "nothing that a dump has",
    ],
    [
      "a block",
      "DELIMITER ;;\nBEGIN NOT ATOMIC DELETE FROM b.t; END;;\n",
      "nothing that a dump has",
    ],
    ["a setting of the server", "SET GLOBAL general_log = 1;", "whole server"],
    [
      "a file behind a long list",
      `SELECT ${"1,".repeat(5000)}1 INTO OUTFILE 'x';`,
      "nothing that a dump has",
    ],
  ])("is refused for %s", (_, text, words) => {
    expect(() => take(text)).toThrow(words);
  });

  test("may contain everything that its tools write", () => {
    const written = `/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET NAMES utf8mb4 */;
SET NAMES 'latin1';
SET NAMES DEFAULT;
CREATE TABLE \`ä\` (a int);
INSERT INTO \`ä\` VALUES ('ä'); -- ä
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!50003 SET @saved_cs_client      = @@character_set_client */ ;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '';
SET @@SESSION.SQL_LOG_BIN= 0;
DROP TABLE IF EXISTS \`a.b\`;
CREATE TABLE \`a.b\` (x decimal(5,2) DEFAULT 1.5) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb4 COMMENT='x.y; z'
/*!50100 PARTITION BY RANGE (x) (PARTITION p VALUES LESS THAN (1.5) ENGINE = InnoDB) */;
CREATE TABLE c (a int /*!80023 INVISIBLE */ COMMENT 'a */ b', b int /*M!100301 COMPRESSED*/) /*!50100 COMMENT '*/' */ /*!80016 ENCRYPTION='N' */ /*!80000 /* a */ */;
LOCK TABLES \`a.b\` WRITE;
/*!40000 ALTER TABLE \`a.b\` DISABLE KEYS */;
INSERT INTO \`a.b\` VALUES (1.5),(2);
UNLOCK TABLES;
ALTER DATABASE \`shop\` CHARACTER SET latin1 COLLATE latin1_swedish_ci ;
DO SETVAL(\`s\`, 1, 0);
SELECT SETVAL(\`s\`, 1, 0);
DELIMITER //
SET @a = 1 //
delimiter $$
SET @a = 1 $$
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=\`root\`@\`localhost\`*/ /*!50003 TRIGGER x BEFORE INSERT ON \`a.b\` FOR EACH ROW BEGIN SET @a = NEW.x; UPDATE t SET a = t.b; END */;;
CREATE DEFINER=\`root\`@\`localhost\` PROCEDURE \`p\`() BEGIN DELETE FROM t; END ;;
CREATE PROCEDURE q(IN a int, OUT b varchar(5)) COMMENT 'x; y' READS SQL DATA DETERMINISTIC SQL SECURITY INVOKER
main: BEGIN
  DECLARE done, end_of INT DEFAULT 0;
  DECLARE c CURSOR FOR SELECT CASE WHEN t.end > 1 THEN IF(a, 1, 2) ELSE CASE a WHEN 1 THEN 2 END END AS \`if\` FROM t;
  DECLARE CONTINUE HANDLER FOR NOT FOUND, SQLSTATE '23000', 1062 SET done = 1;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; END;
  OPEN c; -- it's; open
  \`l\`: LOOP
    FETCH c INTO b;
    IF done THEN LEAVE l; ELSEIF b = CASE b WHEN 1 THEN 2 END THEN SET b = 2; ELSE BEGIN END; END IF;
    CASE WHEN b THEN SET @x := 1; ELSE SET @x = 2; END CASE;
    CASE a WHEN 1 THEN IF (a) THEN SET b = 1; END IF; WHEN 2 THEN BEGIN END; END CASE;
  END LOOP \`l\`;
  WHILE b < 10 DO SET b = b + 1; END WHILE;
  w: REPEAT SET b = b - 1; UNTIL b < CASE WHEN a THEN 1 END END REPEAT w;
  FOR i IN 1..2 DO SELECT i; END FOR;
  DROP TABLE IF EXISTS x; CREATE TABLE IF NOT EXISTS x (a int);
END main ;;
CREATE FUNCTION \`f\`(a int) RETURNS varchar(20) CHARSET utf8mb4 COLLATE utf8mb4_general_ci
    NO SQL
RETURN CASE WHEN a THEN 'x;' ELSE 'y' END ;;
CREATE FUNCTION g() RETURNS int unsigned BEGIN RETURN 1; END ;;
CREATE TRIGGER y AFTER UPDATE ON t FOR EACH ROW FOLLOWS x IF NEW.a THEN SET @a = 1; END IF ;;
CREATE TRIGGER z AFTER UPDATE ON t FOR EACH ROW SET @a = IF(NEW.a, 1, 2); ;;
/*!50106 CREATE*/ /*!50117 DEFINER=\`r\`@\`%\`*/ /*!50106 EVENT \`e2\` ON SCHEDULE EVERY 1 DAY STARTS '2020-01-01 00:00:00' ON COMPLETION NOT PRESERVE ENABLE DO BEGIN DELETE FROM t; END */ ;;
/*!50003 SET sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES' */ ;;
/*!50106 CREATE*/ /*!50117 DEFINER=\`root\`@\`localhost\`*/ /*!50106 EVENT \`e\` ON SCHEDULE EVERY 1 DAY DO DELETE FROM t */ ;;
/*!50003 SET sql_mode = @saved_sql_mode */ ;;
DELIMITER ;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=\`root\`@\`localhost\` SQL SECURITY DEFINER */
/*!50001 VIEW \`v\` AS select \`t\`.\`a\` AS \`a\` from \`t\` */;
`;
    expect(() => take(written)).not.toThrow();
  });
});

import { describe, expect, test } from "vitest";
import { createSqlLexer } from "../../foreign/sql-lexer.ts";
import { createForeignStatements } from "./foreign-statements.ts";

function take(text: string): void {
  const lexer = createSqlLexer("mysql");
  const statements = createForeignStatements();
  for (const piece of [...lexer.write(Buffer.from(text)), ...lexer.end()])
    if (piece.is === "end") {
      statements.isKept(piece.statement);
      statements.count(piece.statement);
    }
}

describe("a dump of one database", () => {
  test.each([
    ["a grant among triggers", "DELIMITER ;;\nGRANT ALL ON *.* TO x;;\nDELIMITER ;\n", "accounts"],
    ["another database among triggers", "DELIMITER ;;\nDROP TABLE `b`.`t`;;\nDELIMITER ;\n", "“b”"],
    [
      "a statement behind another",
      "DELIMITER ;;\nSET @a = 1; GRANT ALL ON *.* TO x;;\n",
      "several statements",
    ],
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
      "no dump",
    ],
    ["a deletion that is analyzed", "ANALYZE DELETE FROM b.t;", "no dump"],
    ["a deletion behind a query", "WITH x AS (SELECT 1) DELETE FROM b.t;", "no dump"],
    ["a block", "DELIMITER ;;\nBEGIN NOT ATOMIC DELETE FROM b.t; END;;\n", "no dump"],
    ["a setting of the server", "SET GLOBAL general_log = 1;", "whole server"],
    ["a file behind a long list", `SELECT ${"1,".repeat(5000)}1 INTO OUTFILE 'x';`, "no dump"],
  ])("is refused for %s", (_, text, words) => {
    expect(() => take(text)).toThrow(words);
  });

  test("may have all that its tools write", () => {
    const written = `/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '';
SET @@SESSION.SQL_LOG_BIN= 0;
DROP TABLE IF EXISTS \`a.b\`;
CREATE TABLE \`a.b\` (x decimal(5,2) DEFAULT 1.5) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb4 COMMENT='x.y; z'
/*!50100 PARTITION BY RANGE (x) (PARTITION p VALUES LESS THAN (1.5) ENGINE = InnoDB) */;
LOCK TABLES \`a.b\` WRITE;
/*!40000 ALTER TABLE \`a.b\` DISABLE KEYS */;
INSERT INTO \`a.b\` VALUES (1.5),(2);
UNLOCK TABLES;
ALTER DATABASE \`shop\` CHARACTER SET latin1 COLLATE latin1_swedish_ci ;
DO SETVAL(\`s\`, 1, 0);
SELECT SETVAL(\`s\`, 1, 0);
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=\`root\`@\`localhost\`*/ /*!50003 TRIGGER x BEFORE INSERT ON \`a.b\` FOR EACH ROW BEGIN SET @a = NEW.x; UPDATE t SET a = t.b; END */;;
CREATE DEFINER=\`root\`@\`localhost\` PROCEDURE \`p\`() BEGIN DELETE FROM t; END ;;
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

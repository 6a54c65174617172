import { expect, test } from "vitest";
import type { SqlDialect } from "./sql-bytes.ts";
import { createSqlLexer } from "./sql-lexer.ts";
import type { SqlPiece } from "./sql-statement.ts";

/** Returns the tokens of a text that arrives in chunks of the given size; adjacent ones of one kind are joined. */
function lex(dialect: SqlDialect, text: string, bytes: number): [string, unknown][] {
  const lexer = createSqlLexer(dialect);
  const all = Buffer.from(text, "latin1");
  const found: [string, unknown][] = [];
  const add = (pieces: SqlPiece[]) => {
    for (const piece of pieces) {
      const last = found.at(-1);
      if ("bytes" in piece) {
        const part = piece.bytes.toString("latin1");
        if (last?.[0] === piece.is) last[1] = `${String(last[1])}${part}`;
        else found.push([piece.is, part]);
      } else if (piece.is === "end") found.push(["end", piece.statement]);
      else if (piece.is === "command") found.push(["command", `${piece.line}: ${piece.text}`]);
      else found.push(["rows end", piece.rows]);
    }
  };
  for (let at = 0; at < all.length; at += bytes) add(lexer.write(all.subarray(at, at + bytes)));
  add(lexer.end());
  return found;
}

const inEveryCut = (dialect: SqlDialect, text: string) => {
  const whole = lex(dialect, text, text.length);
  for (const bytes of [1, 2, 3, 7, 64]) expect(lex(dialect, text, bytes)).toEqual(whole);
  return whole;
};
const heads = (found: [string, unknown][]) =>
  found.flatMap(([, value]) =>
    typeof value === "object" && value !== null && "head" in value ? [value.head] : [],
  );
const commands = (found: [string, unknown][]) =>
  found.flatMap(([is, value]) => (is === "command" ? [value] : []));

test("separates PostgreSQL's statements, whatever is quoted, and however the text is split", () => {
  const found = inEveryCut(
    "postgres",
    String.raw`-- a; comment
/* one /* in; */ another; */ SELECT 'it''s; \', E'it\'s; \\', "a;b", U&'\0041;', $$ body; $$, $fn$ $$ ; $fn$, $1;
CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END;
CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2);
INSERT INTO s."T.x y" (a, b) VALUES (1, '(;'), (2, 'x') ON CONFLICT (a) DO UPDATE SET b = (1);
`,
  );
  expect(heads(found)).toEqual([
    "SELECT '', '', \"a;b\", U&'', '', '', $1",
    "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END",
    "CREATE RULE r AS ON INSERT TO t DO ()",
    'INSERT INTO s."T\u0002x\u0001y" () VALUES (), () ON CONFLICT () DO UPDATE SET b = ()',
  ]);
  expect(found.at(-2)).toMatchObject(["end", { line: 5, rows: 2 }]);
  expect(found.map(([, value]) => (typeof value === "string" ? value : "")).join("")).toContain(
    "/* one /* in; */ another; */ SELECT",
  );
});

test("passes rows of COPY through up to their end mark only, and counts them", () => {
  const rows = "1\t\\N\\.\n\\\\.\n\\.x\n\\! touch /tmp/x\n2\tit's $$ -- /*\n";
  const found = inEveryCut(
    "postgres",
    `COPY public.t (a, b) FROM stdin;\n${rows}\\.\n\nSELECT 1;\n`,
  );
  expect(found).toEqual([
    ["text", "COPY public.t (a, b) FROM stdin;"],
    ["end", expect.objectContaining({ head: "COPY public.t () FROM stdin", line: 1, rows: 0 })],
    ["rows", rows],
    ["rows end", 5],
    ["space", "\n"],
    ["text", "SELECT 1;"],
    ["end", expect.objectContaining({ head: "SELECT 1", line: 9, rows: 0 })],
    ["space", "\n"],
  ]);
});

test("finds each psql command with its line, and none in quoted text", () => {
  const found = inEveryCut(
    "postgres",
    [
      "\\restrict abc",
      "SELECT '\\! no' /* \\! no */, $x$ \\! no $x$; -- \\! no",
      "SELECT 1 \\! touch /tmp/x",
      "; \\connect other",
      "COPY t FROM stdin;",
      "\\! a row",
      "\\.",
      "\\copy t from program 'id'",
      "SELECT E'\\'' \\gexec",
      ";",
    ].join("\n"),
  );
  expect(commands(found)).toEqual([
    "1: \\restrict abc",
    "3: \\! touch /tmp/x",
    "4: \\connect other",
    "8: \\copy t from program 'id'",
    "9: \\gexec",
  ]);
});

test("separates MySQL's statements, with executable comments and delimiters", () => {
  const found = inEveryCut(
    "mysql",
    String.raw`/*M!999999\- enable the sandbox mode */
-- MariaDB dump; --- it's
# it's another; comment
/*!40101 SET NAMES utf8mb4 */;
CREATE DATABASE /*!32312 IF NOT EXISTS*/ ${"`my;shop`"} /*!40100 DEFAULT CHARACTER SET utf8mb4 */;
INSERT INTO ${"`t`"} VALUES (1,'a\'b;\\'),(2,"x;""y"),(3--1,NULL);
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=${"`root`@`localhost`"}*/ /*!50003 TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; SET @b = ';;'; END */;;
delimiter ;
SELECT 1;
`,
  );
  expect(heads(found)).toEqual([
    "SET NAMES utf8mb4",
    "CREATE DATABASE IF NOT EXISTS `my;shop` DEFAULT CHARACTER SET utf8mb4",
    "INSERT INTO `t` VALUES (),(),()",
    "DELIMITER ;;",
    "CREATE DEFINER=`root`@`localhost` TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; SET @b = ''; END",
    "DELIMITER ;",
    "SELECT 1",
  ]);
  expect(found).toContainEqual([
    "end",
    expect.objectContaining({
      head: "INSERT INTO `t` VALUES (),(),()",
      line: 6,
      rows: 3,
      isAlone: false,
    }),
  ]);
});

test.each([
  ["a text", "SELECT 'x"],
  ["a dollar quote", "SELECT $a$ x $b$"],
  ["a comment", "/* x"],
  ["a statement", "SELECT 1"],
  ["rows", "COPY t FROM stdin;\n1\n"],
  ["a quoted name", 'SELECT "x'],
])("reports that %s has no end", (_, text) => {
  for (const bytes of [1, 100]) expect(() => lex("postgres", text, bytes)).toThrow(/no end/);
});

test.each([
  [
    "a comment that a carriage return ends",
    "INSERT INTO t SELECT 1 -- \r; COPY t FROM PROGRAM 'x';",
  ],
  [
    "a text with escapes over two lines",
    "INSERT INTO t SELECT E'a'\n'\\'; ' ; COPY t FROM PROGRAM 'x' ;",
  ],
  ["one with comments between its lines", "SELECT E'a' -- '\n '\\'; ' ; COPY t FROM PROGRAM 'x' ;"],
  ["two texts, of which the second has none", "DO E'a' '\\'; COPY t FROM PROGRAM 'x' ; --'\n;"],
  ["two texts with a comment between", "DO E'a' /*\n*/ '\\'; COPY t FROM PROGRAM 'x' ; --'\n;"],
  ["texts in a list", "INSERT INTO t VALUES (E'a'\n, '\\'); COPY t FROM PROGRAM 'x' ; --'"],
  ["a name without blanks around it", `COPY"t"FROM PROGRAM'x';`],
  ["columns without blanks around them", "COPY t(a)FROM PROGRAM 'x';"],
  ["comments in the place of blanks", "COPY/**/t/**/FROM/**/PROGRAM/**/'x';"],
  ["a name that is too long", `COPY "${"a".repeat(5000)}" FROM PROGRAM 'x';`],
])("is not misled by %s", (_, text) => {
  expect(heads(inEveryCut("postgres", text))).toContainEqual(
    expect.stringMatching(/^COPY .* FROM PROGRAM ''$/),
  );
});

test.each([
  [
    "a word that is no body's",
    "CREATE FUNCTION begin() RETURNS int LANGUAGE sql AS 'x'; SELECT 2; END;",
  ],
  ["a dollar quote", "DO $$ x $$;"],
  ["escapes", "SELECT E'x';"],
])("sends a statement with %s to the server on its own", (_, text) => {
  expect(inEveryCut("postgres", text)).toContainEqual([
    "end",
    expect.objectContaining({ isAlone: true }),
  ]);
});

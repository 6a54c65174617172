// Makes a dump whose rows the server itself writes as SQL, for databases with FLOAT columns, of which the dump tools print only six
// digits. Structure and objects are those of the tool; rows are read in one transaction.
import { Readable, Transform, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { plainSession, quoteName, quoteText, type MysqlClient } from "./client.ts";
import { SourceError } from "../source.ts";
import { toError } from "../../../to-error.ts";

type Column = { name: string; type: string };

/** @returns whether the dump tools would round a column of the database */
export async function hasRoundedColumns(
  client: MysqlClient,
  database: string,
  signal: AbortSignal,
): Promise<boolean> {
  // FLOAT(7,2) is printed with all its digits.
  const [[count] = []] = await client.query(
    `SELECT COUNT(*) FROM information_schema.COLUMNS JOIN information_schema.TABLES USING (TABLE_SCHEMA, TABLE_NAME) WHERE TABLE_SCHEMA = ${quoteText(database)} AND DATA_TYPE = 'float' AND NUMERIC_SCALE IS NULL AND TABLE_TYPE NOT LIKE '%VIEW'`,
    { signal },
  );
  return count !== "0";
}

/**
 * @param dumpStructure writes a dump without rows into the stream, and ends it
 * @param output takes the dump; is ended
 * @throws SourceError, an abort, or the error of `output`
 */
export async function dumpWithRows(
  client: MysqlClient,
  database: string,
  dumpStructure: (output: Writable) => Promise<void>,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  const pieces: Buffer[] = [];
  await dumpStructure(
    new Writable({
      write(piece: Buffer, _, done) {
        pieces.push(Buffer.from(piece));
        done();
      },
    }),
  );
  const structure = splitStructure(Buffer.concat(pieces).toString("latin1"));
  const columns = await readColumns(client, database, signal);
  const elsewhere = await listWithoutRows(client, database, signal);
  const tables = structure.tables.map(({ name, text }) => {
    const own = columns.get(name);
    if (own === undefined)
      throw new SourceError(
        `The table ${name} of ${client.place.shown} was made or changed during the backup. Run it again.`,
      );
    return { name, text, columns: elsewhere.has(name) ? [] : own };
  });
  const script = [
    plainSession,
    "SET NAMES utf8mb4;\nSET SESSION time_zone='+00:00';\nSET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ;\nSTART TRANSACTION WITH CONSISTENT SNAPSHOT;\n",
  ];
  for (const { name, columns: own } of tables) {
    script.push(`SELECT '#';\n`);
    if (own.length > 0)
      script.push(
        `SELECT CONCAT('(', ${own.map(expression).join(", ',', ")}, ')') FROM ${quoteName(name)};\n`,
      );
  }
  const writer = createRowWriter(client.place.shown, tables, structure.rest);
  const passing = pipeline(writer, output, { signal });
  passing.catch(() => undefined);
  const fed = client.feed(Readable.from([Buffer.from(script.join(""))]), {
    database,
    signal,
    output: writer,
    isLong: true,
  });
  fed.catch((error: Error) => writer.destroy(error));
  await fed;
  await passing;
}

type Piece = { name: string; text: string };

/** The end of a table's structure. Its triggers may follow, which must not fire for its rows. */
const tableEnd = /^(?:\/\*!40101 )?SET character_set_client = @saved_cs_client(?: \*\/)?;$/;

/** @returns the dump up to the end of each table's structure, and what follows the last one */
function splitStructure(dump: string): { tables: Piece[]; rest: string } {
  const tables: Piece[] = [];
  let begin = 0;
  let at = 0;
  let name: string | null = null;
  let isBody = false;
  while (at < dump.length) {
    const lineEnd = dump.indexOf("\n", at);
    const to = lineEnd < 0 ? dump.length : lineEnd + 1;
    const line = dump.slice(at, to).trimEnd();
    at = to;
    if (line.startsWith("DELIMITER ")) isBody = line.startsWith("DELIMITER ;;");
    if (isBody) continue;
    const created = /^CREATE TABLE `((?:[^`]|``)+)` \($/.exec(line)?.[1];
    if (created !== undefined)
      name = Buffer.from(created, "latin1").toString("utf8").replaceAll("``", "`");
    if (name === null || !tableEnd.test(line)) continue;
    tables.push({ name, text: dump.slice(begin, to) });
    begin = to;
    name = null;
  }
  if (name !== null) throw new SourceError(`The structure of the table ${name} has no end.`);
  return { tables, rest: dump.slice(begin) };
}

/** Lists tables that show the rows of other tables, which the dump tools leave out, too. */
async function listWithoutRows(
  client: MysqlClient,
  database: string,
  signal: AbortSignal,
): Promise<Set<string | undefined>> {
  const rows = await client.query(
    `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${quoteText(database)} AND ENGINE IN ('MRG_MyISAM', 'MRG_ISAM', 'FEDERATED')`,
    { signal },
  );
  return new Set(rows.map(([name]) => name));
}

async function readColumns(
  client: MysqlClient,
  database: string,
  signal: AbortSignal,
): Promise<Map<string, Column[]>> {
  const rows = await client.query(
    `SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, IFNULL(GENERATION_EXPRESSION, '') = '' FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ${quoteText(database)} ORDER BY TABLE_NAME, ORDINAL_POSITION`,
    { signal },
  );
  const columns = new Map<string, Column[]>();
  for (const [table = "", name = "", type = "", isStored] of rows) {
    const own = columns.get(table) ?? [];
    columns.set(table, own);
    if (isStored === "1") own.push({ name, type });
  }
  return columns;
}

const numbers = new Set("tinyint smallint mediumint int bigint decimal double year".split(" "));
const texts = new Set(
  "char varchar tinytext text mediumtext longtext enum set json date time datetime timestamp inet4 inet6 uuid".split(
    " ",
  ),
);

/** SQL for a column's value as a literal without line ends. */
function expression({ name, type }: Column): string {
  const column = quoteName(name);
  // A DOUBLE is printed with enough digits to read the same value back.
  if (type === "float") return `IFNULL(${column} * 1e0, 'NULL')`;
  if (numbers.has(type)) return `IFNULL(${column}, 'NULL')`;
  if (texts.has(type))
    return `REPLACE(REPLACE(QUOTE(CONVERT(${column} USING utf8mb4)) COLLATE utf8mb4_bin, '\\n', '\\\\n'), '\\r', '\\\\r')`;
  if (type === "bit") return `IF(${column} IS NULL, 'NULL', CONCAT('0x', HEX(${column})))`;
  return `IF(${column} IS NULL, 'NULL', IF(LENGTH(${column}) = 0, '''''', CONCAT('0x', HEX(${column}))))`;
}

const newline = 0x0a;
const openParenthesis = 0x28;
const mark = 0x23;
/** The same limit as that of the dump tools. */
const statementBytes = 1024 * 1024;

/** Builds a dump from the server's results: a mark before each table's rows, then one row per line. */
function createRowWriter(
  shown: string,
  tables: readonly (Piece & { columns: readonly Column[] })[],
  rest: string,
): Transform {
  let next = 0;
  let insert = "";
  /** Bytes of the current statement. */
  let statement = 0;
  let within: "nothing" | "mark" | "row" = "nothing";

  const endStatement = () => {
    if (statement > 0) stream.push(";\n");
    statement = 0;
  };
  const beginTable = () => {
    endStatement();
    const table = tables[next++];
    if (table === undefined) throw new SourceError(`${shown} answered more than it was asked.`);
    const { name, text, columns } = table;
    stream.push(Buffer.from(text, "latin1"));
    stream.push(
      `\n--\n-- Dumping data for table ${quoteName(name.replace(/[\r\n]/g, " "))}\n--\n\n`,
    );
    insert = `INSERT INTO ${quoteName(name)} (${columns.map((column) => quoteName(column.name)).join(",")}) VALUES\n`;
  };
  const beginRow = () => {
    if (statement > statementBytes) endStatement();
    stream.push(statement === 0 ? insert : ",\n");
    statement += 1;
  };

  function write(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (within === "nothing") {
        if (chunk[at] === mark) {
          beginTable();
          within = "mark";
        } else if (chunk[at] === openParenthesis) {
          beginRow();
          within = "row";
        } else
          // The server returns NULL for a text that is longer than max_allowed_packet.
          throw new SourceError(
            `A row of ${tables[next - 1]?.name} in ${shown} is longer as SQL than the server takes. Raise max_allowed_packet on the server.`,
          );
      }
      const lineEnd = chunk.indexOf(newline, at);
      const to = lineEnd < 0 ? chunk.length : lineEnd;
      if (within === "row" && to > at) {
        stream.push(chunk.subarray(at, to));
        statement += to - at;
      }
      if (lineEnd >= 0) within = "nothing";
      at = to + 1;
    }
  }

  const stream = new Transform({
    transform(chunk: Buffer, _, done) {
      try {
        // Copied, because the chunk's memory is reused.
        write(Buffer.from(chunk));
        done();
      } catch (error) {
        done(toError(error));
      }
    },
    flush(done) {
      endStatement();
      if (next !== tables.length)
        return done(new SourceError(`${shown} answered less than it was asked.`));
      stream.push(Buffer.from(rest, "latin1"));
      done();
    },
  });
  return stream;
}

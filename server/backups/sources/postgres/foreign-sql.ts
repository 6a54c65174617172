// Loads a foreign dump in plain SQL into a database, statement by statement. psql is not used, because it takes a line with a
// backslash as a command, which may run programs on this machine.
import { finished } from "node:stream/promises";
import type pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { toError } from "../../../to-error.ts";
import { createSqlLexer } from "../../foreign/sql-lexer.ts";
import { type SqlPiece, takesRows, type Statement } from "../../foreign/sql-statement.ts";
import { SourceError, type Attempt } from "../source.ts";
import { writeTo } from "../../../write-to.ts";
import {
  createDumpedDatabase,
  isLeftOut,
  refuseCommand,
  refuseStatement,
} from "./foreign-statements.ts";

/** Small statements are sent to the server in batches, because over SSH each would take a round trip. */
const batchBytes = 256 * 1024;
/** Longest statement: a string of JavaScript holds at most half a gigabyte. */
const statementBytes = 256 * 1024 * 1024;

/** Statements that may fail, with these codes: a new database has nothing to drop, and an older server lacks some settings. */
const mayMiss: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(?:DROP|ALTER\b.* DROP)\b/i, ["42P01", "42704", "42883", "3F000", "42703"]],
  [/^SET\b/i, ["42704"]],
];
const goesAlone = (head: string): boolean =>
  mayMiss.some(([pattern]) => pattern.test(head)) ||
  /^(?:BEGIN|START|COMMIT|END|ROLLBACK|SELECT|CREATE EXTENSION|RESET)\b/i.test(head);

/**
 * A dump clears the search path, because it names everything with its schema. Functions that run while rows are inserted may need
 * the database's own search path, see `ownSearchPath`.
 */
const withoutPath = /^\s*SELECT pg_catalog\.set_config\('search_path', '', false\)\s*;?\s*$/i;
const ownPath =
  "select pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ', 'pg_catalog', nullif(pg_catalog.current_setting('search_path'), '')), false)";

/** Advice where the dump cannot be made again because its server is gone: psql reads every dump. */
const orByHand = "or load the file into an empty database with psql, and dump that.";

type Batch = { text: Buffer[]; bytes: number; starts: { at: number; line: number }[] };
const emptyBatch = (): Batch => ({ text: [], bytes: 0, starts: [] });

export function createSqlLoad(client: pg.Client, { say }: Pick<Attempt, "say">) {
  const lexer = createSqlLexer("postgres");
  let batch = emptyBatch();
  let text: Buffer[] = [];
  let textBytes = 0;
  let copying: ReturnType<typeof copyFrom> | null = null;
  let copyLine = 0;
  let skipped = 0;
  const dumped = createDumpedDatabase();

  function decode(bytes: Buffer, line: number): string {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      throw new SourceError(
        `What begins in line ${line} isn't UTF-8. Convert the file first: iconv -f LATIN1 -t UTF-8 FILE > FILE.utf8`,
      );
    }
  }

  const failed = (line: number, error: unknown): Error =>
    new SourceError(`PostgreSQL refuses line ${line}: ${toError(error).message}.`, {
      cause: error,
    });

  // The server reports changes of these settings, which decide how the SQL has to be parsed.
  const settings = new Map<string, string>();
  client.connection.on(
    "parameterStatus",
    (told: { parameterName: string; parameterValue: string }) =>
      settings.set(told.parameterName, told.parameterValue),
  );
  function refuseSettings(line: number): void {
    if ((settings.get("standard_conforming_strings") ?? "on") !== "on")
      throw new SourceError(
        `Line ${line} turns standard_conforming_strings off, which changes what the text means. Dump again with it on, ${orByHand}`,
      );
    if ((settings.get("client_encoding") ?? "UTF8") !== "UTF8")
      throw new SourceError(
        `Line ${line} says that the text isn't UTF-8. Dump again with --encoding=UTF8, ${orByHand}`,
      );
  }

  async function runBatch(): Promise<void> {
    const { text: parts, starts } = batch;
    const first = starts[0]?.line ?? 0;
    batch = emptyBatch();
    if (parts.length === 0) return;
    const bytes = Buffer.concat(parts);
    const sql = decode(bytes, first);
    try {
      await client.query(sql);
    } catch (error) {
      // A position in characters, which not every error has.
      const { position }: Error & { position?: string } = toError(error);
      const place = Buffer.byteLength(sql.slice(0, Number(position ?? 1) - 1));
      const line = starts.findLast(({ at }) => at <= place)?.line ?? first;
      throw failed(position === undefined ? first : line, error);
    }
    refuseSettings(first);
  }

  async function runAlone(head: string, bytes: Buffer, line: number): Promise<void> {
    const written = decode(bytes, line);
    const sql = withoutPath.test(written) ? ownPath : written;
    const codes = mayMiss.find(([pattern]) => pattern.test(head))?.[1] ?? [];
    // In this mode, the server refuses more than one statement.
    const query = { text: sql, queryMode: "extended" };
    await client.query(query).catch((error: unknown) => {
      const { code = "" }: NodeJS.ErrnoException = toError(error);
      if (!codes.includes(code)) throw failed(line, error);
    });
    refuseSettings(line);
  }

  function refuseEncoding(head: string, bytes: Buffer, line: number): void {
    const written = bytes.toString("latin1");
    if (/^SET client_encoding\b/i.test(head) && !/UTF-?8|UNICODE|SQL_ASCII/i.test(written))
      throw new SourceError(
        `Line ${line} says that the text isn't UTF-8. Dump again with --encoding=UTF8, ${orByHand}`,
      );
  }

  async function endStatement({ head, line, isAlone }: Statement): Promise<void> {
    const bytes = Buffer.concat(text);
    text = [];
    textBytes = 0;
    const isOfDatabase = dumped.isAbout({ head, line });
    if (!isOfDatabase) refuseStatement({ head, line });
    refuseEncoding(head, bytes, line);
    if (isOfDatabase || isLeftOut(head)) {
      skipped += 1;
      return;
    }
    if (takesRows(head)) {
      await runBatch();
      // This query ends once it has received all rows.
      copying = client.query(copyFrom(decode(bytes, line)));
      copying.on("error", () => undefined);
      copyLine = line;
    } else if (isAlone || goesAlone(head)) {
      await runBatch();
      await runAlone(head, bytes, line);
    } else {
      batch.starts.push({ at: batch.bytes, line });
      batch.text.push(bytes);
      batch.bytes += bytes.length;
      if (batch.bytes >= batchBytes) await runBatch();
    }
  }

  async function take(piece: SqlPiece): Promise<void> {
    if (piece.is === "text") {
      textBytes += piece.bytes.length;
      if (textBytes > statementBytes)
        throw new SourceError("A statement is longer than 256 MiB. Dump again without --inserts.");
      // Copied, because the memory of the chunk may be reused.
      text.push(Buffer.from(piece.bytes));
    } else if (piece.is === "end") await endStatement(piece.statement);
    else if (piece.is === "command") {
      if (!dumped.isEntering(piece.text)) refuseCommand(piece.text, piece.line);
    } else if (copying !== null)
      try {
        if (piece.is === "rows") await writeTo(copying, Buffer.from(piece.bytes));
        else if (piece.is === "rows end") {
          copying.end();
          await finished(copying);
          copying = null;
        }
      } catch (error) {
        throw failed(copyLine, error);
      }
  }

  return async (from: AsyncIterable<Buffer>): Promise<void> => {
    try {
      for await (const chunk of from) for (const piece of lexer.write(chunk)) await take(piece);
      for (const piece of lexer.end()) await take(piece);
      await runBatch();
    } catch (error) {
      copying?.destroy(toError(error));
      throw error;
    }
    const name = dumped.name();
    if (name !== null) say(`The dump is of the database “${name}”, whose name was left out.`);
    if (skipped > 0)
      say(`Left out ${skipped} statements about owners, permissions and settings of the session.`);
  };
}

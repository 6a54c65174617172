// Makes a backup of a foreign dump of MySQL or MariaDB: the text as it is, without what names the database that it came from.
import { finished } from "node:stream/promises";
import { toError } from "../../../to-error.ts";
import { keepEnd } from "../../foreign/keep-end.ts";
import { createSqlLexer } from "../../foreign/sql-lexer.ts";
import type { SqlPiece, Statement } from "../../foreign/sql-statement.ts";
import type { ForeignFile } from "../../foreign/foreign-file.ts";
import { SourceError, type Intake } from "../source.ts";
import { writeTo } from "../../../write-to.ts";
import { createForeignStatements } from "./foreign-statements.ts";

/** Nothing more is needed to tell what becomes of a statement, so that it need not be held in memory. */
const heldBytes = 64 * 1024;

export const createMysqlIntake = ({ content }: ForeignFile): Intake => ({
  async dump(into, { say }) {
    const lexer = createSqlLexer("mysql");
    const statements = createForeignStatements();
    const end = keepEnd();
    let held: Buffer[] = [];
    let isDecided = false;
    let isKept = true;
    let heldSize = 0;

    const pass = (bytes: Buffer) => writeTo(into, Buffer.from(bytes));
    async function decide(statement: Pick<Statement, "head" | "line">): Promise<void> {
      if (isDecided) return;
      isDecided = true;
      isKept = statements.isKept(statement);
      const pieces = held;
      held = [];
      heldSize = 0;
      if (isKept) for (const piece of pieces) await pass(piece);
    }
    async function take(piece: SqlPiece): Promise<void> {
      if (piece.is === "space") await pass(piece.bytes);
      else if (piece.is === "end") {
        await decide(piece.statement);
        statements.count(piece.statement);
        isDecided = false;
      } else if (piece.is === "text") {
        if (isDecided) {
          if (isKept) await pass(piece.bytes);
          return;
        }
        // A copy: the chunk's memory may be used again.
        held.push(Buffer.from(piece.bytes));
        heldSize += piece.bytes.length;
        if (heldSize > heldBytes) await decide(lexer.begun());
      }
    }

    try {
      for await (const chunk of end.watch(content))
        for (const piece of lexer.write(chunk)) await take(piece);
      for (const piece of lexer.end()) await take(piece);
      if (!/(?:^|\n)-- Dump completed[^\n]*\s*$/.test(end.text()))
        throw new SourceError(
          "The text ends without the end mark of a dump, “-- Dump completed”: it is cut off, or was made with --skip-comments or --compact, or by another program, e.g. phpMyAdmin. Copy or dump it again. If it is whole, load it into an empty database with the client (mariadb or mysql), dump that with mysqldump or mariadb-dump, and import the dump.",
        );
      for (const line of statements.notes()) say(line);
      into.end();
      await finished(into, { readable: false });
      return { kind: "database", tables: statements.tables() };
    } catch (error) {
      into.destroy(toError(error));
      throw error;
    } finally {
      content.destroy();
    }
  },
});

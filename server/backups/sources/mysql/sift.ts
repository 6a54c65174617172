// Passes on a foreign dump of MySQL or MariaDB without the statements that name its database.
import { createSqlLexer } from "../../foreign/sql-lexer.ts";
import type { SqlPiece, Statement } from "../../foreign/sql-statement.ts";
import type { ForeignStatements } from "./foreign-statements.ts";

export type Beginning = Pick<Statement, "head" | "line">;

/** Converts the bytes of a statement, or those between two. The first call gets the beginning of the statement. */
type Text = (bytes: Buffer) => Buffer;

type Made = {
  /** Returns the conversion of a statement that is kept. */
  text(statement: Beginning): Text;
  space: Text;
  /** Called after each statement, including those that are left out. */
  ended(statement: Beginning): void;
};

const asItIs: Text = (bytes) => bytes;

/** Bytes after which it can be decided whether a statement is kept, so that the rest need not be held in memory. */
const heldBytes = 64 * 1024;

/** @throws SourceError for a statement that no dump of one database has */
export async function* siftDump(
  content: AsyncIterable<Buffer>,
  statements: ForeignStatements,
  made: Made = { text: () => asItIs, space: asItIs, ended: () => undefined },
): AsyncGenerator<Buffer> {
  const lexer = createSqlLexer("mysql");
  let held: Buffer[] = [];
  let heldSize = 0;
  /** Conversion of the current statement; null = it is left out, undefined = not decided yet. */
  let text: Text | null | undefined;
  /** The latest bytes, held back until the statement is accepted, because a client would run it once it has its end. */
  let latest: Buffer | null = null;

  function* pass(bytes: Buffer): Generator<Buffer> {
    if (latest !== null) yield latest;
    latest = bytes;
  }
  function* decide(statement: Beginning): Generator<Buffer> {
    if (text !== undefined) return;
    text = statements.isKept(statement) ? made.text(statement) : null;
    const beginning = Buffer.concat(held);
    held = [];
    heldSize = 0;
    if (text !== null) yield* pass(text(beginning));
  }
  function* take(piece: SqlPiece): Generator<Buffer> {
    // Copied, because the chunk's memory may be reused.
    if (piece.is === "space") yield made.space(Buffer.from(piece.bytes));
    else if (piece.is === "end") {
      yield* decide(piece.statement);
      statements.count(piece.statement);
      made.ended(piece.statement);
      if (latest !== null) yield latest;
      latest = null;
      text = undefined;
    } else if (piece.is === "text") {
      const bytes = Buffer.from(piece.bytes);
      if (text === undefined) {
        held.push(bytes);
        heldSize += bytes.length;
        if (heldSize > heldBytes) yield* decide(lexer.begun());
      } else if (text !== null) yield* pass(text(bytes));
    }
  }

  for await (const chunk of content) for (const piece of lexer.write(chunk)) yield* take(piece);
  for (const piece of lexer.end()) yield* take(piece);
}

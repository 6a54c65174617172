// Passes on a foreign dump of MySQL or MariaDB without what names the database that it came from.
import { createSqlLexer } from "../../foreign/sql-lexer.ts";
import type { SqlPiece, Statement } from "../../foreign/sql-statement.ts";
import type { ForeignStatements } from "./foreign-statements.ts";

export type Beginning = Pick<Statement, "head" | "line">;

/** What is made of the bytes of a statement, or of what stands between two. The first ones hold its beginning. */
type Text = (bytes: Buffer) => Buffer;

type Made = {
  /** Of a statement that is kept. */
  text(statement: Beginning): Text;
  space: Text;
  /** Of each statement, also of one that is left out. */
  ended(statement: Beginning): void;
};

const asItIs: Text = (bytes) => bytes;

/** Nothing more is needed to tell what becomes of a statement, so that it need not be held in memory. */
const heldBytes = 64 * 1024;

/** @throws SourceError for what no dump of one database has */
export async function* siftDump(
  content: AsyncIterable<Buffer>,
  statements: ForeignStatements,
  made: Made = { text: () => asItIs, space: asItIs, ended: () => undefined },
): AsyncGenerator<Buffer> {
  const lexer = createSqlLexer("mysql");
  let held: Buffer[] = [];
  let heldSize = 0;
  /** Of the statement that is being read; null: it is left out, undefined: that isn't decided. */
  let text: Text | null | undefined;
  /** Has the end of the statement, so it comes once nothing refuses that: a client would run it. */
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
    // Copies: the chunk's memory may be used again.
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

// Summarizes a statement while its text streams: enough to determine what it does, and to which table.
import { createProgramBody } from "./program-body.ts";
import type { SqlDialect } from "./sql-bytes.ts";

export type Statement = {
  /**
   * Its beginning without comments: blanks as one space, which is also inserted between adjacent words, strings as `''`, and without the
   * content of parentheses, e.g. `COPY public.t () FROM stdin`. One character per byte; in quoted names a space is U+0001, and a dot
   * U+0002; what is longer than any name is truncated.
   */
  head: string;
  /** Line where it begins; the first line is 1. */
  line: number;
  /** For an INSERT: number of rows in it. */
  rows: number;
  /** Whether a server could parse it as several statements: it has dollar quotes, escapes, a body, or a semicolon that does not end it. */
  isAlone: boolean;
  /** For a trigger, routine or event of MySQL: whether something follows its body, or the end of the body is unclear. */
  hasMore: boolean;
  /** Whether its words have bytes that are letters in UTF-8, but may be spaces in another character set. */
  hasHighBytes: boolean;
  /** For a statement that sets MySQL's SQL mode or character set: all its strings, with spaces for their quotes. */
  modes: string;
};

/** The bytes of a piece are part of the chunk, so that they must be used before the next chunk is written. */
export type SqlPiece =
  /** Blanks and comments between statements. */
  | { is: "space"; bytes: Buffer }
  | { is: "text"; bytes: Buffer }
  /** The end of a statement, after all of its text and its delimiter. */
  | { is: "end"; statement: Statement }
  /** A command of psql, up to the end of its line. */
  | { is: "command"; text: string; line: number }
  /** Rows after COPY … FROM stdin. */
  | { is: "rows"; bytes: Buffer }
  | { is: "rows end"; rows: number };

const headCharacters = 4000;
const wordCharacters = 128;
/** Enough for 64 characters of four bytes each, or doubled. */
const nameCharacters = 260;
const modesCharacters = 4000;
const setsReading = /^SET\b.*(?:SQL_MODE|\b(?:NAMES|CHARACTER SET|CHARSET))\b/i;
const makesFunction = /^CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE)\b/i;

/** Whether rows follow the statement, up to a line `\.`, as in dumps of PostgreSQL. */
export const takesRows = (head: string): boolean => /^COPY\b.*\bFROM STDIN\b/i.test(head);

export function createStatementReader(dialect: SqlDialect) {
  const isPostgres = dialect === "postgres";
  let head = "";
  let line = 1;
  let hasBegun = false;
  let parentheses = 0;
  /** Open blocks of a function with a body in SQL: `BEGIN ATOMIC …; END`. */
  let blocks = 0;
  let rows = 0;
  let isAlone = false;
  let hasHighBytes = false;
  let modes = "";
  const body = isPostgres ? null : createProgramBody();
  let values: "before" | "within" | "after" = "before";

  const add = (text: string) => {
    if (parentheses === 0 && head.length < headCharacters) head += text;
  };

  /** Adds a text, after a space where it could otherwise merge with the previous word. */
  const addApart = (text: string) => add(/[\w"'`)\x80-\xff]$/.test(head) ? ` ${text}` : text);

  return {
    hasBegun: (): boolean => hasBegun,
    /** Whether a `;` would end the statement here. */
    mayEnd: (): boolean => parentheses === 0 && blocks === 0,
    isInParentheses: (): boolean => parentheses > 0,
    begun: (): Pick<Statement, "head" | "line"> => ({ head: head.trimEnd(), line }),

    begin(at: number): void {
      hasBegun = true;
      line = at;
    },
    end(): Statement {
      const hasMore = body?.end() ?? false;
      const statement = { head: head.trimEnd(), line, rows, isAlone, hasMore, hasHighBytes, modes };
      head = "";
      hasBegun = false;
      parentheses = 0;
      blocks = 0;
      rows = 0;
      isAlone = false;
      hasHighBytes = false;
      modes = "";
      values = "before";
      return statement;
    },

    add,
    addBlank(): void {
      if (head !== "" && !head.endsWith(" ")) add(" ");
    },
    addHighBytes: (): void => void (hasHighBytes = true),
    standAlone: (): void => void (isAlone = true),
    addText(): void {
      if (parentheses === 0) body?.text();
      addApart("''");
    },
    /** Adds a string to `modes`. */
    keepsTexts: (): boolean => !isPostgres && setsReading.test(head),
    keepText(text: string): void {
      if (modes.length < modesCharacters) modes += text.replaceAll(/['"]/g, " ");
    },
    addQuotedName(text: string): void {
      if (parentheses === 0) body?.name(head);
      addApart(text.slice(0, nameCharacters).replace(/\s/g, "\u0001").replaceAll(".", "\u0002"));
    },
    /** Notes that an executed comment begins or ends. */
    addExecuted(isOpening: boolean): void {
      body?.executed(isOpening);
    },
    addSymbol(character: string): void {
      if (parentheses === 0) body?.symbol(character);
      else if (character === ";") body?.refuse();
      // Dump tools write literal values. An assignment to a variable in their place would be hidden.
      else if (character === ":" && !isPostgres) isAlone = true;
      add(character);
    },

    addWord(word: string): void {
      body?.word(word, head);
      addApart(word.slice(0, wordCharacters));
      const known = word.length > 9 ? "" : word.toUpperCase();
      if (known === "VALUES" || known === "VALUE") {
        if (values === "before" && /^(?:INSERT|REPLACE)\b/i.test(head)) values = "within";
      } else if (known === "ON" && values === "within") values = "after";
      else if (isPostgres && (known === "BEGIN" || known === "CASE" || known === "END")) {
        if (known === "END") blocks = Math.max(0, blocks - 1);
        else if (known === "CASE" ? blocks > 0 : makesFunction.test(head)) {
          blocks += 1;
          isAlone = true;
        }
      }
    },

    addParenthesis(isOpening: boolean): void {
      if (isOpening) {
        if (parentheses === 0 && values === "within") rows += 1;
        if (parentheses === 0) body?.parentheses();
        add("(");
        parentheses += 1;
      } else {
        parentheses = Math.max(0, parentheses - 1);
        add(")");
      }
    },
  };
}

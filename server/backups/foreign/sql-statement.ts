// What is kept of a statement while its text streams by: enough to tell what it does, and to which table.
import { createProgramBody } from "./program-body.ts";
import type { SqlDialect } from "./sql-bytes.ts";

export type Statement = {
  /**
   * Its beginning without comments: blanks as one space, which also stands where words meet without any, text as `''`, without what
   * is in parentheses, e.g. `COPY public.t () FROM stdin`. One character a byte; in quoted names a blank reads as U+0001, and a dot as
   * U+0002; what is longer than any name is cut.
   */
  head: string;
  /** Where it begins; the first line is 1. */
  line: number;
  /** Of an INSERT: how many rows it writes out. */
  rows: number;
  /** It has what may be more than one statement to a server that reads it otherwise: dollar quotes, escapes, a body, a semicolon that ends nothing. */
  isAlone: boolean;
  /** Of a trigger, routine or event of MySQL: more stands behind its body, or it can't be told where that ends. */
  hasMore: boolean;
  /** Words of it have bytes that are letters in UTF-8, and may be blanks in another character set. */
  hasHighBytes: boolean;
  /** Of what sets the SQL mode or the character set of MySQL: all its texts, with blanks for their quotes. */
  modes: string;
};

/** The bytes of a piece are those of the chunk: they are to be used before the next one is written. */
export type SqlPiece =
  /** What stands between statements: blanks and comments. */
  | { is: "space"; bytes: Buffer }
  | { is: "text"; bytes: Buffer }
  /** A statement whose text came before, with what ends it. */
  | { is: "end"; statement: Statement }
  /** What psql would take for a command to itself, up to the end of its line. */
  | { is: "command"; text: string; line: number }
  /** Behind COPY … FROM stdin. */
  | { is: "rows"; bytes: Buffer }
  | { is: "rows end"; rows: number };

const headCharacters = 4000;
const wordCharacters = 128;
/** Of 64 characters that each take four bytes, or are doubled. */
const nameCharacters = 260;
const modesCharacters = 4000;
const setsReading = /^SET\b.*(?:SQL_MODE|\b(?:NAMES|CHARACTER SET|CHARSET))\b/i;
const makesFunction = /^CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE)\b/i;

/** Of PostgreSQL: its rows follow, up to a line `\.`. */
export const takesRows = (head: string): boolean => /^COPY\b.*\bFROM STDIN\b/i.test(head);

export function createStatementReader(dialect: SqlDialect) {
  const isPostgres = dialect === "postgres";
  let head = "";
  let line = 1;
  let hasBegun = false;
  let parentheses = 0;
  /** Of a function whose body is SQL: `BEGIN ATOMIC …; END`. */
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

  /** Words need no blank between them where one ends as no word does. */
  const addApart = (text: string) => add(/[\w"'`)\x80-\xff]$/.test(head) ? ` ${text}` : text);

  return {
    hasBegun: (): boolean => hasBegun,
    /** Whether a `;` ends it here. */
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
    /** Whether what its texts say is of interest. */
    keepsTexts: (): boolean => !isPostgres && setsReading.test(head),
    keepText(text: string): void {
      if (modes.length < modesCharacters) modes += text.replaceAll(/['"]/g, " ");
    },
    addQuotedName(text: string): void {
      if (parentheses === 0) body?.name(head);
      addApart(text.slice(0, nameCharacters).replace(/\s/g, "\u0001").replaceAll(".", "\u0002"));
    },
    /** What is run by servers of some versions alone begins or ends. */
    addExecuted(isOpening: boolean): void {
      body?.executed(isOpening);
    },
    addSymbol(character: string): void {
      if (parentheses === 0) body?.symbol(character);
      else if (character === ";") body?.refuse();
      // Tools write out values: what assigns a variable there would do so unseen.
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

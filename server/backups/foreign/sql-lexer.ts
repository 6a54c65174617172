// Splits SQL text into statements while it streams, as psql and the clients of MySQL and MariaDB do: quotes and comments hide
// delimiters. Does not interpret the statements.
import { SourceError } from "../sources/source.ts";
import {
  backslash,
  backtick,
  carriageReturn,
  commentAt,
  countLines,
  dollar,
  dollarTag,
  dot,
  doubleQuote,
  endsBlock,
  executedSight,
  hasHighBytes,
  isBlank,
  isDoubtfulComment,
  isNameByte,
  isPlain,
  isSkippedBySome,
  newline,
  opensBlock,
  quote,
  quotedNameEnd,
  semicolon,
  type SqlDialect,
  star,
  wordEnd,
} from "./sql-bytes.ts";
import {
  createStatementReader,
  type SqlPiece,
  type Statement,
  takesRows,
} from "./sql-statement.ts";

/** Delimiters that clients handle reliably; of others they use only a part, such as what is in quotes, or find them within words. */
const plainDelimiter = /^(?:;{1,3}|\$\$|\/\/|\|\|?)$/;
/** Longest name, tag of a dollar quote, or command. */
const sightBytes = 64 * 1024;
/** The end mark of rows, with its line end. */
const markBytes = 4;
const wait = -1;

const cutOff = (line: number) =>
  new SourceError(
    `The SQL text is cut off: what begins in line ${line} has no end. Copy the file again.`,
  );

export function createSqlLexer(dialect: SqlDialect) {
  const isPostgres = dialect === "postgres";
  let state: keyof typeof steps = "code";
  let data: Buffer = Buffer.alloc(0);
  let isLast = false;
  /** Offset up to which pieces were emitted. */
  let from = 0;
  let pieces: SqlPiece[] = [];

  let quoteByte = quote;
  let escapes = false;
  /** Whether a quote continues the previous escape string: in PostgreSQL it does after a line end. */
  let continues: "no" | "after a line end" | "yes" = "no";
  let tag: Buffer = Buffer.alloc(0);
  let comments = 0;
  let isExecuted = false;
  /** Whether some servers ignore the executed comment, so that for them it ends at the first end mark. */
  let mayBeSkipped = false;
  let delimiter: Buffer = Buffer.from(";");

  let line = 1;
  const statement = createStatementReader(dialect);
  let rows = 0;
  /** Whether a row has begun whose end is not in the data yet. */
  let isWithinRow = false;

  /** In PostgreSQL, a carriage return alone ends a comment. */
  const isLineEnd = (byte: number) => byte === newline || (isPostgres && byte === carriageReturn);
  const isInSight = (to: number) => isLast || to <= data.length;
  const isTooLong = (at: number) => data.length - at >= sightBytes;

  /** Emits a piece up to an offset. */
  function flush(to: number): void {
    const bytes = data.subarray(from, to);
    from = to;
    if (bytes.length === 0) return;
    if (state === "rows") pieces.push({ is: "rows", bytes });
    else pieces.push({ is: statement.hasBegun() ? "text" : "space", bytes });
  }

  function begin(at: number): void {
    if (statement.hasBegun()) return;
    flush(at);
    statement.begin(line);
  }

  function endStatement(at: number): Statement {
    flush(at);
    continues = "no";
    const ended = statement.end();
    pieces.push({ is: "end", statement: ended });
    return ended;
  }

  /** @returns the offset of the end of a line with a command of psql, or with DELIMITER of MySQL's clients */
  function lineEnd(at: number): number {
    const end = data.indexOf(newline, at);
    if (end >= 0) return end;
    if (isLast) return data.length;
    if (isTooLong(at)) throw new SourceError(`Line ${line} is too long for what it begins with.`);
    return wait;
  }

  const refuseComment = () =>
    new SourceError(
      `Line ${line} has what some servers take for a comment, or for its end, and others don't. Nothing was imported.`,
    );

  function comment(at: number): number | null {
    if (!isPostgres && isDoubtfulComment(data, at)) throw refuseComment();
    const found = commentAt(data, at, { isPostgres, isExecuted });
    if (found === null) return null;
    if (mayBeSkipped && found.is === "line comment") throw refuseComment();
    if (found.is === "end of executed") {
      isExecuted = false;
      mayBeSkipped = false;
      statement.addExecuted(false);
      statement.addBlank();
    } else if (found.is === "executed") {
      begin(at);
      isExecuted = true;
      mayBeSkipped ||= isSkippedBySome(data, at);
      statement.addExecuted(true);
    } else {
      state = found.is;
      comments = 1;
      if (found.is === "block comment") continues = "no";
      statement.addBlank();
    }
    return at + found.bytes;
  }

  /** @throws SourceError where a string or name could contain the end of a comment */
  function refuseEnds(at: number, to: number): void {
    if (mayBeSkipped && data.subarray(at, to).includes(star)) throw refuseComment();
  }

  function quoted(at: number): number | null {
    const byte = data[at] ?? 0;
    if (byte === quote || (byte === doubleQuote && !isPostgres)) {
      state = "quoted";
      quoteByte = byte;
      escapes = !isPostgres || continues === "yes";
      return at + 1;
    }
    if (isPostgres && byte === dollar) {
      const found = dollarTag(data, at);
      if (found === "unknown" && !isLast && !isTooLong(at)) return wait;
      if (found === null || found === "unknown") return null;
      tag = found;
      state = "dollar";
      statement.standAlone();
      return at + tag.length;
    }
    if (byte !== (isPostgres ? doubleQuote : backtick)) return null;
    const end = quotedNameEnd(data, at);
    if (end < 0 && !isLast && !isTooLong(at)) return wait;
    if (end < 0) throw new SourceError(`Line ${line}: a quoted name has no end.`);
    refuseEnds(at, end);
    line += countLines(data, at, end);
    statement.addQuotedName(data.toString("latin1", at, end));
    return end;
  }

  function word(at: number): number {
    const end = wordEnd(data, at, isPostgres);
    if (end === data.length && !isLast && !isTooLong(at)) return wait;
    // An escape string may follow.
    if (isPostgres && end === at + 1 && (data[at] === 0x45 || data[at] === 0x65)) {
      if (data[end] === quote) {
        state = "quoted";
        quoteByte = quote;
        escapes = true;
        statement.standAlone();
        return end + 1;
      }
    }
    if (!isPostgres && hasHighBytes(data, at, end)) statement.addHighBytes();
    if (!statement.isInParentheses()) statement.addWord(data.toString("latin1", at, end));
    return end;
  }

  const isDelimiter = (at: number): boolean =>
    isPostgres
      ? data[at] === semicolon && statement.mayEnd()
      : data[at] === delimiter[0] && data.subarray(at, at + delimiter.length).equals(delimiter);

  /** Skips numbers and separators, most of what is in parentheses. @returns the offset after them */
  function plainEnd(at: number): number {
    let to = at;
    while (to < data.length && isPlain(data[to] ?? 0)) to += 1;
    return to;
  }

  function code(at: number): number {
    if (statement.isInParentheses() && continues === "no") {
      const end = plainEnd(at);
      if (end > at) return end;
    }
    const byte = data[at] ?? 0;
    if (isBlank(byte)) {
      if (byte === newline) line += 1;
      if (isLineEnd(byte) && continues !== "no") continues = "yes";
      statement.addBlank();
      return at + 1;
    }
    if (!isInSight(at + executedSight)) return wait;
    const afterComment = comment(at);
    if (afterComment !== null) return afterComment;
    if (isPostgres && byte === backslash) {
      const end = lineEnd(at);
      if (end === wait) return wait;
      flush(at);
      const text = data.toString("latin1", at, Math.min(end, at + 200)).trimEnd();
      pieces.push({ is: "command", text, line });
      from = end;
      return end;
    }
    // A backslash begins a command of the clients of MySQL and MariaDB. `--binary-mode` still allows `\C`, which changes the character set.
    if (byte === backslash)
      throw new SourceError(
        `Line ${line} has a backslash outside of texts, which MySQL takes for a command to its client. Nothing was imported.`,
      );
    if (
      !isPostgres &&
      !statement.hasBegun() &&
      /^delimiter[\t-\r ]/i.test(data.toString("latin1", at, at + 10))
    ) {
      const end = lineEnd(at);
      if (end === wait) return wait;
      begin(at);
      const named = data.toString("latin1", at + "delimiter".length, end).trim();
      if (!plainDelimiter.test(named) && end === data.length) throw cutOff(line);
      if (!plainDelimiter.test(named))
        throw new SourceError(
          `Line ${line} has a delimiter that no dump has, so where statements end can't be told. Nothing was imported.`,
        );
      delimiter = Buffer.from(named, "latin1");
      statement.add(`DELIMITER ${named}`);
      endStatement(end);
      return end;
    }
    begin(at);
    if (isDelimiter(at)) {
      const end = at + (isPostgres ? 1 : delimiter.length);
      const { head: ended } = endStatement(end);
      if (isPostgres && takesRows(ended)) state = "rows ahead";
      return end;
    }
    const afterQuote = quoted(at);
    if (afterQuote !== wait) continues = "no";
    if (afterQuote !== null) return afterQuote;
    if (isNameByte(byte)) return word(at);
    if (byte === 0x28 || byte === 0x29) statement.addParenthesis(byte === 0x28);
    else statement.addSymbol(String.fromCharCode(byte));
    if (byte === semicolon) statement.standAlone();
    return at + 1;
  }

  /** @returns the offset after a string, or the end of the data */
  function quotedEnd(start: number): number {
    for (let at = start; at < data.length; at += 1) {
      const byte = data[at];
      if (byte === newline) line += 1;
      else if (byte === quoteByte) {
        if (!isInSight(at + 2)) return at > start ? at : wait;
        if (data[at + 1] === quoteByte) at += 1;
        else {
          statement.addText();
          state = "code";
          if (isPostgres && escapes) continues = "after a line end";
          return at + 1;
        }
      } else if (escapes && byte === backslash) {
        if (!isInSight(at + 2)) return at > start ? at : wait;
        at += 1;
        if (data[at] === newline) line += 1;
      }
    }
    return data.length;
  }

  const steps = {
    code,

    quoted(start: number): number {
      const isOfInterest = statement.keepsTexts();
      const end = quotedEnd(start);
      refuseEnds(start, end);
      if (isOfInterest) statement.keepText(data.toString("latin1", start, Math.max(start, end)));
      return end;
    },

    dollar(at: number): number {
      const end = data.indexOf(tag, at);
      const to = end < 0 ? Math.max(at, isLast ? data.length : data.length - tag.length) : end;
      line += countLines(data, at, to);
      if (end < 0) return to > at ? to : wait;
      statement.addText();
      state = "code";
      return end + tag.length;
    },

    "line comment"(start: number): number {
      for (let at = start; at < data.length; at += 1)
        if (isLineEnd(data[at] ?? 0)) {
          state = "code";
          return at;
        }
      return data.length;
    },

    "block comment"(at: number): number {
      if (!isInSight(at + 2)) return wait;
      if (data[at] === newline) line += 1;
      if (endsBlock(data, at)) {
        comments -= 1;
        if (comments === 0) state = "code";
        return at + 2;
      }
      // Only PostgreSQL has nested comments.
      if (!isPostgres || !opensBlock(data, at)) return at + 1;
      comments += 1;
      return at + 2;
    },

    "rows ahead"(at: number): number {
      const end = lineEnd(at);
      if (end === wait) return wait;
      if (data.toString("latin1", at, end).trim() !== "")
        throw new SourceError(`Line ${line}: something stands between COPY and its rows.`);
      line += 1;
      from = Math.min(end + 1, data.length);
      state = "rows";
      rows = 0;
      isWithinRow = false;
      return from;
    },

    /** One row per line: only the line end is searched. */
    rows(at: number): number {
      const found = data.indexOf(newline, at);
      if (found < 0 && !isLast) {
        const mayBeMark = data[at] === backslash && data.length - at < markBytes;
        if (!isWithinRow && mayBeMark) return wait;
        isWithinRow = true;
        return data.length;
      }
      const end = found < 0 ? data.length : found;
      const isMark =
        !isWithinRow &&
        data[at] === backslash &&
        data[at + 1] === dot &&
        data.toString("latin1", at + 2, end).trim() === "";
      const after = Math.min(end + 1, data.length);
      line += 1;
      isWithinRow = false;
      if (!isMark) {
        rows += 1;
        return after;
      }
      flush(at);
      pieces.push({ is: "rows end", rows });
      rows = 0;
      from = after;
      state = "code";
      return after;
    },
  };

  function run(chunk: Buffer): SqlPiece[] {
    // The rest of the previous data is the beginning of a token whose end was missing.
    data = data.length === 0 ? chunk : Buffer.concat([data, chunk]);
    from = 0;
    pieces = [];
    let at = 0;
    while (at < data.length) {
      const next = steps[state](at);
      if (next === wait) break;
      at = next;
    }
    flush(at);
    data = Buffer.from(data.subarray(at));
    return pieces;
  }

  return {
    /** @throws SourceError for text that is not SQL of this dialect */
    write: (chunk: Buffer): SqlPiece[] => run(chunk),
    /** To be called once, after the last chunk. @throws SourceError where a statement, a string or rows have no end */
    end(): SqlPiece[] {
      isLast = true;
      const last = run(Buffer.alloc(0));
      if (
        state === "rows" ||
        state === "rows ahead" ||
        statement.hasBegun() ||
        (state !== "code" && state !== "line comment")
      )
        throw cutOff(statement.hasBegun() ? statement.begun().line : line);
      return last;
    },
    /** Returns the beginning of the current statement so far. */
    begun: statement.begun,
  };
}

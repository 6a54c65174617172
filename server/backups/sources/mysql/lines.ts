// Reads a dump while it streams: passes on whole lines of structure, counts rows and computes their checksums.
import { createRowDigest, type RowDigest } from "./row-digest.ts";

type LineReader = {
  /** Receives a line other than rows, with its line end. Decoded as latin1, so that no byte is lost. */
  structure(line: string): void;
  /** Receives bytes of rows, or of the INSERT before them. */
  rows(bytes: Buffer): void;
};

/** A table in a dump. */
export type Table = { name: string; rows: number; longestRowBytes: number; digest: RowDigest };

const newline = 0x0a;
const openParenthesis = 0x28;
const insert = Buffer.from("INSERT INTO `");
/** Enough for `INSERT INTO`, a name of 64 escaped four-byte characters, and what follows. */
const headBytes = 600;

/**
 * Both tools escape line ends in values, so that a row never spans lines. mariadb-dump writes one row per line; mysqldump writes all
 * rows of an INSERT in one line, where every byte has to be inspected.
 */
export function createLines(reader: LineReader) {
  let kept: Buffer = Buffer.alloc(0);
  /** The kind of line that the previous chunk did not end: a row needs only its line end, an INSERT has to be parsed. */
  let within: "nothing" | "row" | "insert" = "nothing";
  /** Whether between `DELIMITER ;;` and `DELIMITER ;`, because the body of a routine may contain lines that look like rows. */
  let isBody = false;
  const tables = new Map<string, Table>();
  let current: Table | null = null;
  let rowBytes = 0;
  /** The last byte of a piece of a row, held back because at the end of the row it is a comma or semicolon that is no part of it. */
  const last = Buffer.alloc(1);
  const lastView = new DataView(last.buffer, last.byteOffset, 1);
  let hasLast = false;

  const tableOf = (name: string): Table => {
    const known = tables.get(name);
    if (known !== undefined) return known;
    const made = { name, rows: 0, longestRowBytes: 0, digest: createRowDigest() };
    tables.set(name, made);
    return made;
  };
  const endRow = () => {
    if (current !== null) {
      current.rows += 1;
      current.longestRowBytes = Math.max(current.longestRowBytes, rowBytes);
      current.digest.endRow();
    }
    rowBytes = 0;
    hasLast = false;
  };
  /** Takes a piece of a row that has a line of its own, without the line end. */
  const rowPiece = (view: DataView, from: number, to: number) => {
    if (to === from || current === null) return;
    rowBytes += to - from;
    if (hasLast) current.digest.update(lastView, 0, 1);
    current.digest.update(view, from, to - 1);
    last[0] = view.getUint8(to - 1);
    hasLast = true;
  };
  const tuples = createTuples({
    piece(view, from, to) {
      rowBytes += to - from;
      current?.digest.update(view, from, to);
    },
    end: endRow,
  });

  function write(piece: Buffer): void {
    const chunk = kept.length === 0 ? piece : Buffer.concat([kept, piece]);
    kept = Buffer.alloc(0);
    const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.length);
    let at = 0;
    let rowsFrom = 0;
    const flushRows = (to: number) => {
      if (to > rowsFrom) reader.rows(chunk.subarray(rowsFrom, to));
    };
    const end = chunk.length;
    if (within !== "nothing") {
      const lineEnd = chunk.indexOf(newline);
      at = lineEnd < 0 ? end : lineEnd + 1;
      if (within === "insert") tuples.write(view, 0, at);
      else rowPiece(view, 0, lineEnd < 0 ? end : lineEnd);
      if (lineEnd >= 0 && within === "row") endRow();
      if (lineEnd >= 0) within = "nothing";
    }
    while (at < end) {
      if (current !== null && chunk[at] === openParenthesis) {
        // The hot loop: for one row per line, only the line end is searched.
        while (at < end && chunk[at] === openParenthesis) {
          const lineEnd = chunk.indexOf(newline, at);
          rowPiece(view, at, lineEnd < 0 ? end : lineEnd);
          if (lineEnd < 0) within = "row";
          else endRow();
          at = lineEnd < 0 ? end : lineEnd + 1;
        }
        continue;
      }
      const lineEnd = chunk.indexOf(newline, at);
      const head = chunk.subarray(at, Math.min(at + insert.length, end));
      if (!isBody && head.equals(insert) && (lineEnd >= 0 || end - at >= headBytes)) {
        const to = lineEnd < 0 ? end : lineEnd + 1;
        const text = chunk.toString("utf8", at, Math.min(at + headBytes, to));
        const match = /^INSERT INTO `((?:[^`]|``)+)` (\()?/.exec(text);
        const name = match?.[1]?.replaceAll("``", "`");
        current = name === undefined ? null : tableOf(name);
        // A list of columns is in parentheses, too, and must not count as a row.
        tuples.start(match?.[2] !== undefined);
        tuples.write(view, at, to);
        if (lineEnd < 0) within = "insert";
        at = to;
        continue;
      }
      flushRows(at);
      rowsFrom = at;
      if (lineEnd < 0) {
        // The line is incomplete: the next `write` reads it again with the rest.
        kept = Buffer.from(chunk.subarray(at));
        return;
      }
      current = null;
      const line = chunk.toString("latin1", at, lineEnd + 1);
      if (line.startsWith("DELIMITER ")) isBody = line.startsWith("DELIMITER ;;");
      const created = isBody
        ? undefined
        : /^CREATE TABLE (?:IF NOT EXISTS )?`((?:[^`]|``)+)` \(\n$/.exec(line)?.[1];
      if (created !== undefined)
        tableOf(Buffer.from(created, "latin1").toString("utf8").replaceAll("``", "`"));
      reader.structure(line);
      at = lineEnd + 1;
      rowsFrom = at;
    }
    flushRows(end);
  }

  return {
    write,
    end(): void {
      if (kept.length > 0) reader.structure(kept.toString("latin1"));
      kept = Buffer.alloc(0);
    },
    /** Returns the tables so far, including those without rows. */
    tables: (): readonly Table[] => [...tables.values()],
  };
}

type TupleReader = { piece(view: DataView, from: number, to: number): void; end(): void };

/** Finds `(…)` outside of quotes, because a value may contain any of these characters. */
function createTuples(reader: TupleReader) {
  let quote = 0;
  let isEscaped = false;
  let depth = 0;
  let isSkipping = false;

  return {
    start(hasColumns: boolean) {
      quote = 0;
      isEscaped = false;
      depth = 0;
      isSkipping = hasColumns;
    },
    write(view: DataView, from: number, to: number): void {
      let rowFrom = from;
      for (let at = from; at < to; at += 1) {
        const byte = view.getUint8(at);
        if (quote !== 0) {
          if (isEscaped) isEscaped = false;
          else if (byte === 0x5c && quote === 0x27) isEscaped = true;
          else if (byte === quote) quote = 0;
        } else if (byte === 0x27 || byte === 0x60) quote = byte;
        else if (byte === openParenthesis) {
          if (depth === 0) rowFrom = at;
          depth += 1;
        } else if (byte === 0x29) {
          depth -= 1;
          if (depth > 0) continue;
          if (!isSkipping) {
            reader.piece(view, rowFrom, at + 1);
            reader.end();
          }
          isSkipping = false;
        }
      }
      if (depth > 0 && !isSkipping) reader.piece(view, rowFrom, to);
    },
  };
}

// Goes through a dump as it streams by: lines of structure whole, rows counted and summed up.
import { createRowDigest, type RowDigest } from "./row-digest.ts";

type LineReader = {
  /** A line that is not rows, with its line end. Bytes as latin1, so that nothing is lost. */
  structure(line: string): void;
  /** Bytes that are rows, or the INSERT before them. */
  rows(bytes: Buffer): void;
};

/** Of a table in a dump. */
export type Table = { name: string; rows: number; longestRowBytes: number; digest: RowDigest };

const newline = 0x0a;
const openParenthesis = 0x28;
const insert = Buffer.from("INSERT INTO `");
/** Enough for `INSERT INTO`, a name of 64 characters with every one a quoted four-byte one, and what follows. */
const headBytes = 600;

/**
 * Both tools escape line ends inside values, so a line of rows is one. mariadb-dump writes a row a line,
 * mysqldump all rows of an INSERT in the INSERT's own line; the latter takes a look at every byte.
 */
export function createLines(reader: LineReader) {
  let kept: Buffer = Buffer.alloc(0);
  /** Inside a line of rows that the chunk before did not end: the bytes before its end need no look, or a full one. */
  let within: "nothing" | "row" | "insert" = "nothing";
  /** Between `DELIMITER ;;` and `DELIMITER ;`: the body of a routine may hold lines that look like rows. */
  let isBody = false;
  const tables = new Map<string, Table>();
  let current: Table | null = null;
  let rowBytes = 0;
  /** The last byte of a piece of a row: a comma or semicolon that is no part of it, or one that is. */
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
  /** A piece of a row that has a line of its own, without the line's end. */
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
        // The hot loop: a row a line, nothing but its end is looked for.
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
        // A list of columns stands in parentheses as a row does.
        tuples.start(match?.[2] !== undefined);
        tuples.write(view, at, to);
        if (lineEnd < 0) within = "insert";
        at = to;
        continue;
      }
      flushRows(at);
      rowsFrom = at;
      if (lineEnd < 0) {
        // Its rest is to come: `write` sees it again, whole.
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
    /** What was seen so far, also of tables without rows. */
    tables: (): readonly Table[] => [...tables.values()],
  };
}

type TupleReader = { piece(view: DataView, from: number, to: number): void; end(): void };

/** Finds `(…)` outside of quotes: a value may hold any of these characters. */
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

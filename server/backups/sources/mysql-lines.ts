// Goes through a dump as it streams by: lines of structure whole, rows only counted, so that it costs next to nothing.

export type LineReader = {
  /** A line that is not rows, with its line end. Bytes as latin1, so that nothing is lost. */
  structure(line: string): void;
  /** Bytes that are rows, or the INSERT before them. */
  rows(bytes: Buffer): void;
};

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
  let table: string | null = null;
  /** Inside a line of rows that the chunk before did not end: the bytes before its end need no look, or a full one. */
  let within: "nothing" | "row" | "insert" = "nothing";
  /** Between `DELIMITER ;;` and `DELIMITER ;`: the body of a routine may hold lines that look like rows. */
  let isBody = false;
  const tuples = createTupleCounter();
  const counts = new Map<string, number>();

  const count = (rows: number) => {
    if (table !== null) counts.set(table, (counts.get(table) ?? 0) + rows);
  };

  function write(piece: Buffer): void {
    const chunk = kept.length === 0 ? piece : Buffer.concat([kept, piece]);
    kept = Buffer.alloc(0);
    let at = 0;
    let rowsFrom = 0;
    const flushRows = (to: number) => {
      if (to > rowsFrom) reader.rows(chunk.subarray(rowsFrom, to));
    };
    const end = chunk.length;
    if (within !== "nothing") {
      const lineEnd = chunk.indexOf(newline);
      at = lineEnd < 0 ? end : lineEnd + 1;
      if (within === "insert") count(tuples.write(chunk, 0, at));
      if (lineEnd >= 0) within = "nothing";
    }
    while (at < end) {
      if (table !== null && chunk[at] === openParenthesis) {
        let rows = 0;
        // The hot loop: a row a line, nothing but its end is looked for.
        while (at < end && chunk[at] === openParenthesis) {
          rows += 1;
          const lineEnd = chunk.indexOf(newline, at);
          if (lineEnd < 0) within = "row";
          at = lineEnd < 0 ? end : lineEnd + 1;
        }
        count(rows);
        continue;
      }
      const lineEnd = chunk.indexOf(newline, at);
      const head = chunk.subarray(at, Math.min(at + insert.length, end));
      if (!isBody && head.equals(insert) && (lineEnd >= 0 || end - at >= headBytes)) {
        const to = lineEnd < 0 ? end : lineEnd + 1;
        const text = chunk.toString("utf8", at, Math.min(at + headBytes, to));
        const match = /^INSERT INTO `((?:[^`]|``)+)` (\()?/.exec(text);
        table = match?.[1]?.replaceAll("``", "`") ?? null;
        if (table !== null && !counts.has(table)) counts.set(table, 0);
        // A list of columns stands in parentheses as a row does.
        tuples.start(match?.[2] === undefined ? 0 : -1);
        count(tuples.write(chunk, at, to));
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
      table = null;
      const line = chunk.toString("latin1", at, lineEnd + 1);
      if (line.startsWith("DELIMITER ")) isBody = line.startsWith("DELIMITER ;;");
      const created = isBody
        ? undefined
        : /^CREATE TABLE (?:IF NOT EXISTS )?`((?:[^`]|``)+)` \(\n$/.exec(line)?.[1];
      if (created !== undefined) {
        const name = Buffer.from(created, "latin1").toString("utf8").replaceAll("``", "`");
        if (!counts.has(name)) counts.set(name, 0);
      }
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
    /** Rows by table so far; a table without rows has 0. */
    counts: (): Record<string, number> => Object.fromEntries(counts),
  };
}

/** Counts `(…)` outside of quotes: a value may hold any of these characters. */
function createTupleCounter() {
  let quote = 0;
  let isEscaped = false;
  let depth = 0;
  let first = 0;

  return {
    start(from: number) {
      quote = 0;
      isEscaped = false;
      depth = 0;
      first = from;
    },
    write(bytes: Buffer, from: number, to: number): number {
      let rows = first;
      first = 0;
      for (let at = from; at < to; at += 1) {
        const byte = bytes[at];
        if (quote !== 0) {
          if (isEscaped) isEscaped = false;
          else if (byte === 0x5c && quote === 0x27) isEscaped = true;
          else if (byte === quote) quote = 0;
          else if (quote === 0x27 && byte !== 0x5c) {
            // Long texts: on to the next byte that can matter.
            while (at + 1 < to && bytes[at + 1] !== 0x27 && bytes[at + 1] !== 0x5c) at += 1;
          }
        } else if (byte === 0x27 || byte === 0x60) quote = byte;
        else if (byte === openParenthesis) {
          if (depth === 0) rows += 1;
          depth += 1;
        } else if (byte === 0x29) depth -= 1;
      }
      return rows;
    },
  };
}

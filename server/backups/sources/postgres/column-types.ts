// Checks whether the columns of a live table can hold the values of a backup: COPY silently rounds or truncates some values.

export type Column = {
  name: string;
  /** As PostgreSQL writes it, such as `numeric(10,2)`. */
  type: string;
  /** Whether it is a generated column, which has no values in a dump. */
  isGenerated: boolean;
};

const token = /'(?:[^']|'')*'|"(?:[^"]|"")*"|[(),]|[^'"(),]+/g;
/** A string literal with escapes, such as `E'a\nb'`. */
const escaped = /(?<![\w$])E'(?:[^'\\]|''|\\[\s\S])*'/g;

/** Splits what is between the parentheses of a CREATE TABLE at its top-level commas. */
function partsOf(body: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const [piece] of body.replace(escaped, "''").matchAll(token)) {
    if (piece === ")" && depth === 0) break;
    if (piece === "(") depth += 1;
    else if (piece === ")") depth -= 1;
    if (piece === "," && depth === 0) parts.push("");
    else parts.push(`${parts.pop() ?? ""}${piece}`);
  }
  return parts.map((part) => part.trim());
}

/** What may follow the type in the definition of a column. */
const afterType =
  /\s(?:COLLATE|COMPRESSION|DEFAULT|GENERATED|NOT NULL|NULL|CONSTRAINT|CHECK|OPTIONS)\b/;

/**
 * @param sql as pg_restore writes it for a table
 * @returns the columns of the table; empty where the SQL does not list them, as for a table of a type
 */
export function columnsIn(sql: string): Column[] {
  const name = '(?:"(?:[^"]|"")+"|[^\\s."(]+)';
  const made = new RegExp(`^CREATE (?:UNLOGGED )?TABLE ${name}\\.${name} \\(\\n`, "m").exec(sql);
  if (made === null) return [];
  return partsOf(sql.slice(made.index + made[0].length)).flatMap((part) => {
    const [, column = "", rest = ""] = /^("(?:[^"]|"")+"|[^\s"]+)\s+([\s\S]+)$/.exec(part) ?? [];
    if (column === "" || column === "CONSTRAINT") return [];
    const end = afterType.exec(rest)?.index ?? rest.length;
    return {
      name: column.startsWith('"') ? column.slice(1, -1).replaceAll('""', '"') : column,
      type: rest.slice(0, end),
      isGenerated: /\sGENERATED ALWAYS AS \(/.test(rest),
    };
  });
}

const whole = new Set(["smallint", "integer", "bigint"]);
const rounded = new Set(["real", "double precision"]);

/** Number of decimal places of a numeric type; null = another type. */
function scaleOf(type: string): number | null {
  if (whole.has(type)) return 0;
  if (rounded.has(type)) return Infinity;
  const [, , scale] = /^numeric(\(\d+,(-?\d+)\))?$/.exec(type) ?? [];
  if (scale !== undefined) return Number(scale);
  return type === "numeric" ? Infinity : null;
}

/** Kind of a date or time type, and its digits of a second; null = another type. */
function momentOf(type: string): { kind: string; digits: number } | null {
  if (type === "date") return { kind: "date", digits: 0 };
  const [, kind, digits, zone = ""] =
    /^(timestamp|time|interval)(?:\((\d)\))?( with(?:out)? time zone)?$/.exec(type) ?? [];
  return kind === undefined ? null : { kind: kind + zone, digits: Number(digits ?? 6) };
}

/** Types that truncate values that are too long. */
const cut = new Set(["name", '"char"']);

function losesIn(was: string, is: string): boolean {
  if (is === was) return false;
  if (was.endsWith("[]") && is.endsWith("[]")) return losesIn(was.slice(0, -2), is.slice(0, -2));
  if (cut.has(is)) return true;
  const scale = scaleOf(was);
  if (scale !== null) {
    if (is === "real") return was !== "smallint";
    if (is === "double precision") return scale > 0 ? was !== "real" : was === "bigint";
    return !whole.has(is) && (scaleOf(is) ?? Infinity) < scale;
  }
  const [before, now] = [momentOf(was), momentOf(is)];
  if (before === null || now === null) return false;
  if (before.kind !== now.kind)
    return before.kind !== "date" || now.kind !== "timestamp without time zone";
  return now.digits < before.digits;
}

/** @returns why the live column would silently change values of the backup; null where it keeps them, or the server refuses them */
export function tellLoss(was: Column, is: Column): string | null {
  if (was.isGenerated)
    return is.isGenerated ? null : "was generated in the backup and has values of its own now";
  // The server itself refuses values for a generated column.
  if (is.isGenerated || !losesIn(was.type, is.type)) return null;
  return `was ${was.type} in the backup and is ${is.type} now, which can't hold each of its values`;
}

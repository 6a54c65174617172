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

const name = '(?:"(?:[^"]|"")+"|[^\\s."(;]+)';
const qualified = `${name}\\.${name}`;

/**
 * @param sql as pg_restore writes it for a table, and for the type of a table that was made of one
 * @returns the columns of the table; empty where the SQL does not list them
 */
export function columnsIn(sql: string): Column[] {
  const made = new RegExp(
    `^CREATE (?:UNLOGGED )?TABLE ${qualified} (?:\\(\\n|OF (${qualified}))`,
    "m",
  );
  const [start, type] = made.exec(sql) ?? [];
  const head = type === undefined ? start : `CREATE TYPE ${type} AS (\n`;
  const at = head === undefined ? -1 : sql.indexOf(head);
  if (head === undefined || at < 0) return [];
  return partsOf(sql.slice(at + head.length)).flatMap((part) => {
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

/** @param sql as pg_restore writes it. @returns the types of domains, by name */
export const domainsIn = (sql: string): Map<string, string> =>
  new Map(
    [...sql.matchAll(new RegExp(`^CREATE DOMAIN (${qualified}) AS (.+?);?$`, "gm"))].map(
      ([, domain = "", rest = ""]) => [domain, rest.slice(0, afterType.exec(rest)?.index)],
    ),
  );

/** Replaces a domain by its type. @param domains types of domains, by name */
export function withoutDomain(type: string, domains: ReadonlyMap<string, string>): string {
  let [found, arrays] = [type, ""];
  // A forged archive may have a domain of itself.
  for (let left = domains.size; left >= 0; left -= 1) {
    if (found.endsWith("[]")) [found, arrays] = [found.slice(0, -2), `${arrays}[]`];
    found = domains.get(found) ?? found;
  }
  return found + arrays;
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

/** Maximum length of a character type, and whether it pads shorter values; null = another type. */
function lengthOf(type: string): { length: number; isPadded: boolean } | null {
  if (type === "name") return { length: 63, isPadded: false };
  if (/^(?:text|character varying|bpchar|(?:.+\.)?citext)$/.test(type))
    return { length: Infinity, isPadded: type === "bpchar" };
  const [, kind, length] = /^character( varying)?\((\d+)\)$/.exec(type) ?? [];
  return length === undefined ? null : { length: Number(length), isPadded: kind === undefined };
}

/** Types that take a value of a number or text as it is, or refuse it. */
const strict = new Set([
  ...whole,
  "numeric",
  "uuid",
  "boolean",
  "json",
  "jsonb",
  "inet",
  "cidr",
  "macaddr",
]);
const addresses = new Set(["inet", "cidr"]);
const isBits = (type: string) => /^bit(?: varying)?(?:\(\d+\))?$/.test(type);

const keepsNumber = (was: string, scale: number, is: string): boolean => {
  if (is === "real") return was === "smallint";
  if (is === "double precision") return scale > 0 ? was === "real" : was !== "bigint";
  const now = scaleOf(is);
  return now !== null && (whole.has(is) || now >= scale);
};

/** Whether a type takes each text that a value of another one is written as without a change, or refuses it. */
function keeps(was: string, is: string, isEnum: boolean): boolean {
  if (is === was || isEnum) return true;
  if (was.endsWith("[]") && is.endsWith("[]"))
    return keeps(was.slice(0, -2), is.slice(0, -2), isEnum);
  const [scale, moment, length] = [scaleOf(was), momentOf(was), lengthOf(was)];
  const room = lengthOf(is);
  if (room !== null && is !== "name") {
    if (room.length === Infinity && !room.isPadded) return true;
    // Spaces at the end of a text that is too long are cut, and others refused.
    if (length !== null) return room.length >= length.length && (!room.isPadded || length.isPadded);
    const hasSpaces = scale === null && moment === null && !strict.has(was);
    return !room.isPadded && !hasSpaces;
  }
  if (length !== null) return strict.has(is);
  if (scale !== null) return keepsNumber(was, scale, is);
  if (/^interval\b/.test(was) && is === "interval") return true;
  if (moment !== null) {
    const now = momentOf(is);
    if (now === null) return false;
    if (moment.kind === "date") return now.kind === "timestamp without time zone";
    return now.kind === moment.kind && now.digits >= moment.digits;
  }
  if (was === "json" || was === "jsonb") return is === "json" || is === "jsonb";
  if (isBits(was) && isBits(is)) return true;
  // The same type without its limits, such as one of an extension.
  return (addresses.has(was) && addresses.has(is)) || was.replace(/\(.*\)$/, "") === is;
}

/**
 * @param was without a domain, like `is`
 * @returns why the live column might silently change values of the backup; null where it keeps them, or the server refuses them
 */
export function tellLoss(was: Column, is: Column & { isEnum?: boolean }): string | null {
  if (was.isGenerated)
    return is.isGenerated ? null : "was generated in the backup and has values of its own now";
  // The server itself refuses values for a generated column.
  if (is.isGenerated || keeps(was.type, is.type, is.isEnum === true)) return null;
  return `was ${was.type} in the backup and is ${is.type} now, which might change values`;
}

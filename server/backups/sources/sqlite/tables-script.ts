// Builds the SQL that restores single tables of an attached backup into a live SQLite database: one transaction, which is rolled back
// where one of its conditions fails.
import { quoteName } from "./check-queries.ts";
import { isSame, kept, type Facts, type Item } from "./tables-facts.ts";

type Chosen = {
  /** Its name in the live database; null = it was dropped. */
  live: string | null;
  backup: string;
  /** Columns that are restored. */
  columns: string[];
  /** Columns that may convert values differently than in the backup. */
  changed: string[];
};

const whole = "Restore the backup into another database, and copy the table from there";
const refuse = (why: string) => new Error(`nothing was changed: ${why}. ${whole}`);

/** @throws Error that explains why a table cannot be restored without a loss */
function choose({ live, backup }: Facts, wanted: string): Chosen {
  const name = backup.tables.find((table) => isSame(table, wanted));
  if (name === undefined)
    throw refuse(
      backup.items.some((item) => item.type === "table" && isSame(item.name, wanted))
        ? `the rows of ${wanted} belong to a virtual table, whose parts fit each other alone`
        : `the backup holds no rows of a table ${wanted}`,
    );
  const there = live.items.find((item) => item.type !== "trigger" && isSame(item.name, name));
  const table = live.tables.find((one) => isSame(one, name));
  if (there !== undefined && table === undefined)
    throw refuse(`${name} is no ordinary table any more`);
  const from = backup.columns(name);
  const into = table === undefined ? from : live.columns(table);
  const takes = (column: string) => into.some((one) => one.isStored && isSame(one.name, column));
  const lost = from.filter((one) => one.isStored && !takes(one.name));
  if (lost.length > 0)
    throw refuse(`${name} has no column ${lost.map((one) => one.name).join(", ")} any more`);
  const columns = from.filter((one) => takes(one.name)).map((one) => one.name);
  const hasNumber = (side: Facts["live"], at: string) =>
    !side.isWithoutRowid(at) && !side.columns(at).some((one) => one.isNumber);
  // Rowids are kept, because other tables, such as a full-text index, refer to them.
  const number = ["rowid", "_rowid_", "oid"].find(
    (one) => ![...from, ...into].some((column) => isSame(column.name, one)),
  );
  const isNumbered = hasNumber(backup, name) && (table === undefined || hasNumber(live, table));
  const kindIn = (column: string) => into.find((one) => isSame(one.name, column))?.kind;
  const changed = from.filter((one) => takes(one.name) && kindIn(one.name) !== one.kind);
  return {
    live: table ?? null,
    backup: name,
    changed: changed.map((one) => one.name),
    columns: [...(isNumbered && number !== undefined ? [number] : []), ...columns.map(quoteName)],
  };
}

const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const inMain = (name: string) => `main.${quoteName(name)}`;
const inKept = (name: string) => `${kept}.${quoteName(name)}`;

/** Returns the content table of a full-text index, which the index can be rebuilt from; null = none. */
const contentOf = (sql: string): string | null => {
  if (!/^create\s+virtual\s+table\b.*?\busing\s+fts[45]\b/is.test(sql)) return null;
  const [, ...names] =
    /\bcontent\s*=\s*(?:'((?:[^']|'')+)'|"((?:[^"]|"")+)"|\[([^\]]+)\]|`([^`]+)`|([^\s,)'"]+))/i.exec(
      sql,
    ) ?? [];
  return names.find((name) => name !== undefined) ?? null;
};

const tokens =
  /'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[^]*?(?:\*\/|$)|[;\0]|[\w$\x80-\uffff]+/g;

/**
 * Whether the SQL of an object in a schema is a single statement. SQLite reads only the first one, so that a forged file may have more
 * statements after it, which a script would run.
 */
function isOneStatement(type: string, sql: string): boolean {
  const found = (sql.match(tokens) ?? [])
    .filter((token) => !token.startsWith("--") && !token.startsWith("/*"))
    .map((token) => token.toUpperCase());
  if (found.includes("\0")) return false;
  if (type !== "trigger") return !found.includes(";");
  // The body of a trigger ends like this only once, at the end.
  return !found.some(
    (token, at) => token === "END" && found[at - 1] === ";" && found[at + 1] === ";",
  );
}

/** Distinguishes the message of a condition from constraints of the database. */
const promised = "quarterdeck: ";

/** SQL for a value as text, which is the same for equal numbers of any column type. */
function plainText(column: string): string {
  const real = `cast(${column} as real)`;
  const integer = `cast(${column} as integer)`;
  return `case when typeof(${column}) <> 'real' and (typeof(${column}) <> 'text' or cast(${real} as text) <> ${column}) then cast(${column} as text) when ${real} = ${integer} then cast(${integer} as text) else cast(${real} as text) end`;
}

/**
 * @param wanted names of tables
 * @returns statements for a connection to the live database that has the backup attached and enforces no foreign keys. A condition
 *   that is not met fails with its message, see `wordsOf`.
 * @throws Error that explains why a table cannot be restored without a loss
 */
export function tablesScript(facts: Facts, wanted: readonly string[]): string {
  const { live, backup, version } = facts;
  const names = [...new Set(wanted)];
  const chosen = names.map((name) => choose(facts, name));
  const script: string[] = [];
  const run = (...statements: string[]) =>
    script.push(
      // Otherwise a comment at the end of a statement would include the semicolon.
      ...statements.map((statement) => `${statement}${statement.includes("--") ? "\n" : ""};`),
    );
  let promises = 0;
  /** Adds a condition as a constraint whose name is the message, because SQLite reports the name of a violated constraint. */
  const promise = (words: string, condition: string) => {
    const table = `temp.quarterdeck_promise_${promises++}`;
    run(
      `create table ${table} (holds integer constraint ${quoteName(`${promised}${words}`)} check (holds))`,
      `insert into ${table} select ${condition}`,
    );
  };
  /** Adds the SQL of an object as it is in the schema. */
  const runText = ({ type, name, sql }: Item) => {
    if (!isOneStatement(type, sql))
      throw refuse(`what makes the ${type} ${name} is more than one statement`);
    run(sql);
  };
  const triggersOf = (items: readonly Item[], table: string) =>
    items.filter((item) => item.type === "trigger" && isSame(item.table, table));
  const children = [
    ...new Set(
      chosen.flatMap(({ live: there, backup: name }) => [there ?? name, ...live.referring(name)]),
    ),
  ];
  const isThere = (name: string) => live.tables.some((table) => isSame(table, name));
  const broken = (side: string, child: string) =>
    `pragma_foreign_key_check(${quoteText(child)}, '${side}')`;

  run("begin immediate");
  promise(
    "its tables were changed in the meantime, so nothing was changed: restore again",
    `(select schema_version from pragma_schema_version) = ${version}`,
  );
  run("create table temp.quarterdeck_broken (child text, number integer, parent text)");
  for (const child of children)
    for (const side of [
      ...(isThere(child) ? ["main"] : []),
      ...(chosen.some(({ backup: name }) => isSame(name, child)) ? [kept] : []),
    ])
      run(
        `insert into temp.quarterdeck_broken select lower("table"), "rowid", lower(parent) from ${broken(side, child)}`,
      );
  for (const { live: there, backup: name, columns, changed } of chosen) {
    const own = backup.items.find((item) => item.type === "table" && item.name === name);
    if (there === null) {
      if (own !== undefined) runText(own);
    } else {
      // Triggers would fire for each row.
      for (const trigger of triggersOf(live.items, there))
        run(`drop trigger ${inMain(trigger.name)}`);
      run(`delete from ${inMain(there)}`);
    }
    const list = columns.join(", ");
    run(`insert into ${inMain(there ?? name)} (${list}) select ${list} from ${inKept(name)}`);
    promise(
      `${name} would not have all rows of the backup, so nothing was changed`,
      `(select count(*) from ${inMain(there ?? name)}) = (select count(*) from ${inKept(name)})`,
    );
    const of = quoteText(name);
    const isCounted = (items: readonly Item[], table: string) =>
      items.some(
        ({ type, name: one, sql }) =>
          type === "table" && isSame(one, table) && /\bautoincrement\b/i.test(sql),
      );
    if (there !== null) {
      const values = changed.map((column) => plainText(quoteName(column))).join(", ");
      if (values !== "")
        promise(
          `${name} would not have the values of the backup, because the type of ${changed.join(", ")} has changed since, so nothing was changed. ${whole}`,
          `not exists (select ${values} from ${inKept(name)} except select ${values} from ${inMain(there)})`,
        );
      const sequence = `from ${kept}.sqlite_sequence where name = ${of}`;
      if (isCounted(backup.items, name) && isCounted(live.items, there))
        run(
          `insert into main.sqlite_sequence (name, seq) select ${quoteText(there)}, seq ${sequence} and not exists (select 1 from main.sqlite_sequence where name = ${quoteText(there)})`,
          `update main.sqlite_sequence set seq = max(seq, (select seq ${sequence})) where name = ${quoteText(there)} and exists (select 1 ${sequence})`,
        );
      continue;
    }
    for (const index of backup.items)
      if (index.type === "index" && index.sql !== "" && isSame(index.table, name)) runText(index);
    if (isCounted(backup.items, name))
      run(
        `delete from main.sqlite_sequence where name = ${of}`,
        `insert into main.sqlite_sequence (name, seq) select name, seq from ${kept}.sqlite_sequence where name = ${of}`,
      );
  }
  for (const { live: there, backup: name } of chosen)
    for (const trigger of there === null
      ? triggersOf(backup.items, name)
      : triggersOf(live.items, there))
      runText(trigger);
  for (const { name, sql } of live.items) {
    const content = contentOf(sql);
    if (content !== null && chosen.some(({ backup: table }) => isSame(table, content)))
      run(`insert into ${inMain(name)} (${quoteName(name)}) values ('rebuild')`);
  }
  for (const child of children) {
    const known = `from temp.quarterdeck_broken k where k.child = lower(${quoteText(child)})`;
    promise(
      `rows of ${child} would refer to rows that are not there, so nothing was changed. Restore the tables that belong together`,
      `not exists (select 1 from ${broken("main", child)} v where not exists (select 1 ${known} and k.number is v."rowid" and k.parent = lower(v.parent)))
        and (select count(*) from ${broken("main", child)}) <= (select count(*) ${known})`,
    );
  }
  // Changes the schema version, which shows afterwards that the transaction was committed.
  run("create table main.quarterdeck_mark (x)", "drop table main.quarterdeck_mark", "commit");
  return script.join("\n");
}

/** @returns a query whose result is 1 where the live tables are the same as in the backup, otherwise 0 */
export function sameQuery(facts: Facts, wanted: readonly string[]): string {
  const conditions = wanted.map((one) => {
    const { live: there, backup: name, columns } = choose(facts, one);
    if (there === null) return "0";
    const list = columns.join(", ");
    return `((select count(*) from ${inMain(there)}) = (select count(*) from ${inKept(name)}) and not exists (select ${list} from ${inMain(there)} except select ${list} from ${inKept(name)}))`;
  });
  return `select ${conditions.join(" and ")} as same`;
}

/** Returns the message of a failed condition, or of files that SQLite cannot attach to each other; any other message unchanged. */
export const wordsOf = (message: string): string =>
  message
    .replace(new RegExp(`CHECK constraint failed: ${promised}`), "")
    .replace(
      /attached databases must use the same text encoding as main database/i,
      "nothing was changed: the database stores texts in another encoding than the backup. Restore the backup into another database, and copy the table from there by .dump of sqlite3",
    );

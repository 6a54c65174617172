// Splits a dump while it streams: tables are loaded into a scratch database at once; triggers, views, routines and events, which
// RENAME does not move, are kept as SQL for the target.
import { Transform } from "node:stream";
import { quoteName } from "./client.ts";
import { createLines } from "./lines.ts";

/** SQL for the command-line client, decoded as latin1, so that no byte is lost in a JSON file. */
export type Objects = {
  /** Session settings and the database's character set; runs before the others. */
  header: string;
  /** Views, triggers, routines. */
  code: string;
  /** Separate, because events must not run in a scratch database. */
  events: string;
  /** The database that was dumped, which views may name; null = unknown, absent in plans of earlier versions. */
  source?: string | null;
};

type Section = "header" | "tables" | "code" | "events";

/** First lines of sections, by both tools and all their versions. */
const sections: [RegExp, Section][] = [
  [/^-- (Table structure for table|Sequence structure for|Dumping data for table) /, "tables"],
  [/^-- (Temporary (table|view) structure for view|Final view structure for view) /, "code"],
  [/^-- Dumping routines for database /, "code"],
  [/^-- Dumping events for database /, "events"],
  // Triggers have no heading: they follow the rows of their table, beginning with the session settings that they save.
  [/^(\/\*!50003 SET @saved_cs_client |ALTER DATABASE )/, "code"],
];

/** The line that `createDumpStream` adds to each dump. */
const ownCharacterSet = /^ALTER DATABASE CHARACTER SET /;

/** The only tables that are taken from a dump. */
export type Taken = {
  tables: ReadonlySet<string>;
  /** Tables whose triggers are taken, too. */
  withTriggers: ReadonlySet<string>;
  /** Database of the sequences in their defaults. */
  database: string;
};

const heading =
  /^-- (?:Table structure for table|Sequence structure for|Dumping data for table) (.*)\n$/;

/** @param lead statements to insert before the dump. @param taken null = everything */
export function createSplitter(lead: string, taken: Taken | null = null) {
  /** The table whose structure, rows or triggers are read; null before the first table and after the last. */
  let owner: string | null = null;
  let section: Section = "header";
  let isBody = false;
  let isWhole = false;
  const objects: Objects & { source: string | null } = {
    header: "",
    code: "",
    events: "",
    source: null,
  };

  const engines = new Map<string, string>();

  const isTaken = (): boolean => {
    if (taken === null) return true;
    const tables = section === "tables" ? taken.tables : taken.withTriggers;
    return owner !== null && tables.has(owner);
  };

  function structure(raw: string) {
    // MariaDB's sandbox mark, an error for other and older clients. `--binary-mode` is the better protection.
    if (raw.startsWith("/*M!999999")) return;
    objects.source ??= /^-- Host: .*Database: (.+)\n$/.exec(raw)?.[1]?.trimEnd() ?? null;
    if (!isBody) {
      const next = sections.find(([pattern]) => pattern.test(raw))?.[1];
      const isTrigger = next === "code" && !raw.startsWith("-- ");
      if (next !== undefined && !ownCharacterSet.test(raw) && !(isTrigger && section !== "tables"))
        section = next;
    }
    if (!isBody && raw.startsWith("-- ")) {
      const [, quoted] = heading.exec(raw) ?? [];
      if (quoted !== undefined)
        owner = Buffer.from(quoted.replace(/^`(.*)`$/, "$1"), "latin1")
          .toString("utf8")
          .replaceAll("``", "`");
      else if (section === "code" || section === "events") owner = null;
    }
    const engine = isBody || owner === null ? undefined : /^\) ENGINE=(\w+)/.exec(raw)?.[1];
    if (engine !== undefined && owner !== null) engines.set(owner, engine);
    if (raw.startsWith("DELIMITER ")) isBody = raw.startsWith("DELIMITER ;;");
    if (raw.trim() !== "") isWhole = !isBody && raw.startsWith("-- Dump completed");
    // The dump tool names the dumped database, but this has to change the database that the dump is loaded into.
    const line = raw.replace(
      /^ALTER DATABASE `(?:[^`]|``)+` CHARACTER SET /,
      "ALTER DATABASE CHARACTER SET ",
    );
    if (section !== "header" && !isTaken()) return;
    if (section === "header") {
      objects.header += line;
      stream.push(Buffer.from(line, "latin1"));
    } else if (section === "tables") {
      stream.push(Buffer.from(unqualified(line), "latin1"));
    } else objects[section] += line;
  }

  /** Removes the database from MariaDB's defaults with a sequence or, for single tables, replaces it by that of the sequences. */
  function unqualified(line: string): string {
    if (objects.source === null || !line.includes("val(")) return line;
    const name = objects.source.replaceAll("`", "``");
    const place = taken === null ? "" : `${latin(quoteName(taken.database))}.`;
    return line.replaceAll(`val(\`${name}\`.`, `val(${place}`);
  }

  const lines = createLines({
    structure,
    rows: (bytes) => {
      isWhole = false;
      if (isTaken()) stream.push(bytes);
    },
  });
  const stream = new Transform({
    transform(chunk: Buffer, _, done) {
      lines.write(chunk);
      done();
    },
    flush(done) {
      lines.end();
      done();
    },
  });
  stream.push(Buffer.from(lead));

  return {
    stream,
    objects,
    /** Engines by table, for tables that the dump's comments name. */
    engines,
    /** Whether the dump's end mark was its last line. */
    isWhole: () => isWhole,
  };
}

const identifier = '(?:`(?:[^`]|``)+`|"(?:[^"]|"")+"|[^\\s.`"(]+)';
const within = `(?:${identifier}\\s*\\.\\s*)?`;
/** Matches the beginning of CREATE TRIGGER, with the databases before its name and before its table. */
const trigger = new RegExp(
  `^(/\\*!\\d+ CREATE\\*/ (?:/\\*!\\d+ .*?\\*/ )?/\\*!\\d+ TRIGGER\\s+(?:IF\\s+NOT\\s+EXISTS\\s+)?)${within}(${identifier})(\\s+(?:BEFORE|AFTER)\\s+(?:INSERT|UPDATE|DELETE)\\s+ON\\s+)${within}(${identifier})`,
  "gim",
);

/** Returns the names of the triggers that a dump creates. */
export const triggersIn = ({ code }: Pick<Objects, "code">): string[] =>
  [...code.matchAll(trigger)].map(([, , name = ""]) => {
    const plain = /^[`"]/.test(name)
      ? name.slice(1, -1).replaceAll(name[0]?.repeat(2) ?? "", name[0] ?? "")
      : name;
    return Buffer.from(plain, "latin1").toString();
  });

/**
 * Replaces the dumped database in views, which name it where the server could not omit it: when they also read another database, call
 * `nextval`, or have a definer that does not exist. Created elsewhere, they would read the old database, or fail.
 * @param database the database that the objects are created in
 */
export function inDatabase({ code: dumped, source }: Objects, database: string): string {
  // A trigger is dumped with its original statement, which may name the live database.
  const code = dumped.replace(trigger, "$1$2$3$4");
  const name = latin(database);
  if (source === undefined || source === null || source === name) return code;
  const own = escaped(`\`${source.replaceAll("`", "``")}\`.`);
  const target = `\`${name.replaceAll("`", "``")}\`.`;
  const part = "`(?:[^`]|``)*`";
  // Matches string literals, and places that can only be the database: before a table and its column, before a table in FROM, in the
  // argument of a sequence's function, before a function. Elsewhere it may be an alias of the same name.
  const place = new RegExp(
    `('(?:[^'\\\\]|\\\\[\\s\\S]|'')*')|${own}(?=${part}\\.${part})|((?:\\b(?:from|join) \\(*|\\b(?:nextval|lastval|setval)\\())${own}|${own}(?=${part}\\()`,
    "g",
  );
  return code.replace(/^\/\*!50001 VIEW [\s\S]*?\*\/;$/gm, (view) =>
    view.replace(
      place,
      (_, quoted: string | undefined, before: string | undefined) =>
        quoted ?? `${before ?? ""}${target}`,
    ),
  );
}

const latin = (text: string): string => Buffer.from(text).toString("latin1");
const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

const definer =
  /^((?:CREATE (?:OR REPLACE )?|\/\*!\d+ CREATE\*\/ \/\*!\d+ |\/\*!\d+ ))DEFINER=(`(?:[^`]|``)*`(?:@`(?:[^`]|``)*`)?|"(?:[^"]|"")*"(?:@"(?:[^"]|"")*")?)/gm;

/** Converts quotes: objects that were created in another SQL mode, such as packages, are dumped with its quotes. */
const inBackticks = (account: string): string =>
  account.replace(
    /"((?:[^"]|"")*)"/g,
    (_, name: string) => `\`${name.replaceAll('""', '"').replaceAll("`", "``")}\``,
  );

/** Returns the definers of the objects, as SQL. */
export const definersOf = ({ code, events }: Objects): string[] => [
  ...new Set(
    [...`${code}\n${events}`.matchAll(definer)].map((match) => inBackticks(match[2] ?? "")),
  ),
];

/** @param taken definers to remove; their objects get the account that creates them */
export function withoutDefiners(objects: Objects, taken: readonly string[]): Objects {
  const strip = (sql: string) =>
    sql.replace(definer, (all: string, before: string, account: string) =>
      taken.includes(inBackticks(account)) ? before : all,
    );
  return { ...objects, code: strip(objects.code), events: strip(objects.events) };
}

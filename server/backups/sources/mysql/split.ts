// A dump taken apart as it streams by: tables go to a scratch database at once; triggers, views, routines and events,
// which no RENAME carries over, are kept as SQL for the target.
import { Transform } from "node:stream";
import { quoteName } from "./client.ts";
import { createLines } from "./lines.ts";

/** SQL that the command line client reads, latin1 for bytes, so that nothing is lost in a JSON file. */
export type Objects = {
  /** Session settings and the database's character set; to be run before the others. */
  header: string;
  /** Views, triggers, routines. */
  code: string;
  /** Apart: in a scratch database they must not begin to run. */
  events: string;
  /** The database that was dumped: views may name it. Null in what was kept before views were looked at for it. */
  source?: string | null;
};

type Section = "header" | "tables" | "code" | "events";

/** First lines of sections, by both tools and all their versions. */
const sections: [RegExp, Section][] = [
  [/^-- (Table structure for table|Sequence structure for|Dumping data for table) /, "tables"],
  [/^-- (Temporary (table|view) structure for view|Final view structure for view) /, "code"],
  [/^-- Dumping routines for database /, "code"],
  [/^-- Dumping events for database /, "events"],
  // Triggers have no such line: they follow their table's rows with what they save of the session.
  [/^(\/\*!50003 SET @saved_cs_client |ALTER DATABASE )/, "code"],
];

/** Our own line in each dump, see `createDumpStream`. */
const ownCharacterSet = /^ALTER DATABASE CHARACTER SET /;

/** Which tables alone are taken out of a dump. */
export type Taken = {
  tables: ReadonlySet<string>;
  /** Those of them whose triggers are wanted, too. */
  withTriggers: ReadonlySet<string>;
  /** Where the sequences are that their defaults ask. */
  database: string;
};

const heading =
  /^-- (?:Table structure for table|Sequence structure for|Dumping data for table) (.*)\n$/;

/** @param lead statements that come before the dump's. @param taken null = everything */
export function createSplitter(lead: string, taken: Taken | null = null) {
  /** Whose structure, rows or triggers go by; null before the first table and after the last. */
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
    // Only newer clients of MariaDB know it; to the others it is a mistake. `--binary-mode` guards better.
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
    // The dump tool names the database that it read; this is to work on the one that it is loaded into.
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

  /** A default of MariaDB's sequences names the database: at loading, that is the one it is loaded into, or the one that keeps its own. */
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
    /** Of tables, as far as the dump's comments name them. */
    engines,
    /** Whether the dump's end mark was its last line. */
    isWhole: () => isWhole,
  };
}

const identifier = '(?:`(?:[^`]|``)+`|"(?:[^"]|"")+"|[^\\s.`"(]+)';
const within = `(?:${identifier}\\s*\\.\\s*)?`;
/** What makes a trigger, with the databases before its name and that of its table. */
const trigger = new RegExp(
  `^(/\\*!\\d+ CREATE\\*/ (?:/\\*!\\d+ .*?\\*/ )?/\\*!\\d+ TRIGGER\\s+(?:IF\\s+NOT\\s+EXISTS\\s+)?)${within}(${identifier})(\\s+(?:BEFORE|AFTER)\\s+(?:INSERT|UPDATE|DELETE)\\s+ON\\s+)${within}(${identifier})`,
  "gim",
);

/** The names of the triggers that a dump makes. */
export const triggersIn = ({ code }: Pick<Objects, "code">): string[] =>
  [...code.matchAll(trigger)].map(([, , name = ""]) => {
    const plain = /^[`"]/.test(name)
      ? name.slice(1, -1).replaceAll(name[0]?.repeat(2) ?? "", name[0] ?? "")
      : name;
    return Buffer.from(plain, "latin1").toString();
  });

/**
 * Views name the database that they were dumped from wherever the server could not leave it out: when they read another
 * database as well, call `nextval`, or have a definer that is gone. In another database they would read the first one,
 * or nothing.
 * @param database the one that the objects are made in
 */
export function inDatabase({ code: dumped, source }: Objects, database: string): string {
  // A trigger is dumped in the words that made it, and would be made where those say, in the live database.
  const code = dumped.replace(trigger, "$1$2$3$4");
  const name = latin(database);
  if (source === undefined || source === null || source === name) return code;
  const own = escaped(`\`${source.replaceAll("`", "``")}\`.`);
  const target = `\`${name.replaceAll("`", "``")}\`.`;
  const part = "`(?:[^`]|``)*`";
  // Text, then what is a name of the database for sure: before a table and its column, before a table in FROM, in the
  // argument of a sequence's function, before a function. An alias may be called like the database.
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

/** Objects that were made in the mode of another database, such as packages, are dumped with its quotes. */
const inBackticks = (account: string): string =>
  account.replace(
    /"((?:[^"]|"")*)"/g,
    (_, name: string) => `\`${name.replaceAll('""', '"').replaceAll("`", "``")}\``,
  );

/** The accounts that the objects run as, as SQL. */
export const definersOf = ({ code, events }: Objects): string[] => [
  ...new Set(
    [...`${code}\n${events}`.matchAll(definer)].map((match) => inBackticks(match[2] ?? "")),
  ),
];

/** @param taken accounts that may not be set; their objects get the one that loads them */
export function withoutDefiners(objects: Objects, taken: readonly string[]): Objects {
  const strip = (sql: string) =>
    sql.replace(definer, (all: string, before: string, account: string) =>
      taken.includes(inBackticks(account)) ? before : all,
    );
  return { ...objects, code: strip(objects.code), events: strip(objects.events) };
}

// A dump taken apart as it streams by: tables go to a scratch database at once; triggers, views, routines and events,
// which no RENAME carries over, are kept as SQL for the target.
import { Transform } from "node:stream";
import { createLines } from "./mysql-lines.ts";

/** SQL that the command line client reads, latin1 for bytes, so that nothing is lost in a JSON file. */
export type Objects = {
  /** Session settings and the database's character set; to be run before the others. */
  header: string;
  /** Views, triggers, routines. */
  code: string;
  /** Apart: in a scratch database they must not begin to run. */
  events: string;
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

/** @param lead statements that come before the dump's */
export function createSplitter(lead: string) {
  let section: Section = "header";
  let isBody = false;
  let isWhole = false;
  let source: string | null = null;
  const objects: Objects = { header: "", code: "", events: "" };

  function structure(raw: string) {
    // Only newer clients of MariaDB know it; to the others it is a mistake. `--binary-mode` guards better.
    if (raw.startsWith("/*M!999999")) return;
    source ??= /^-- Host: .*Database: (.+)\n$/.exec(raw)?.[1]?.trimEnd() ?? null;
    if (!isBody) {
      const next = sections.find(([pattern]) => pattern.test(raw))?.[1];
      const isTrigger = next === "code" && !raw.startsWith("-- ");
      if (next !== undefined && !ownCharacterSet.test(raw) && !(isTrigger && section !== "tables"))
        section = next;
    }
    if (raw.startsWith("DELIMITER ")) isBody = raw.startsWith("DELIMITER ;;");
    if (raw.trim() !== "") isWhole = !isBody && raw.startsWith("-- Dump completed");
    // The dump tool names the database that it read; this is to work on the one that it is loaded into.
    const line = raw.replace(
      /^ALTER DATABASE `(?:[^`]|``)+` CHARACTER SET /,
      "ALTER DATABASE CHARACTER SET ",
    );
    if (section === "header") {
      objects.header += line;
      stream.push(Buffer.from(line, "latin1"));
    } else if (section === "tables") {
      stream.push(Buffer.from(unqualified(line), "latin1"));
    } else objects[section] += line;
  }

  /** A default of MariaDB's sequences names the database: at loading, that is the one it is loaded into. */
  function unqualified(line: string): string {
    if (source === null || !line.includes("nextval(")) return line;
    const name = Buffer.from(source).toString("latin1").replaceAll("`", "``");
    return line.replaceAll(`nextval(\`${name}\`.`, "nextval(");
  }

  const lines = createLines({
    structure,
    rows: (bytes) => {
      isWhole = false;
      stream.push(bytes);
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
    /** Whether the dump's end mark was its last line. */
    isWhole: () => isWhole,
  };
}

const definer =
  /^((?:CREATE (?:OR REPLACE )?|\/\*!\d+ CREATE\*\/ \/\*!\d+ |\/\*!\d+ ))DEFINER=(`(?:[^`]|``)*`(?:@`(?:[^`]|``)*`)?)/gm;

/** The accounts that the objects run as, as SQL. */
export const definersOf = ({ code, events }: Objects): string[] => [
  ...new Set([...`${code}\n${events}`.matchAll(definer)].map((match) => match[2] ?? "")),
];

/** @param taken accounts that may not be set; their objects get the one that loads them */
export function withoutDefiners(objects: Objects, taken: readonly string[]): Objects {
  const strip = (sql: string) =>
    sql.replace(definer, (all: string, before: string, account: string) =>
      taken.includes(account) ? before : all,
    );
  return { ...objects, code: strip(objects.code), events: strip(objects.events) };
}

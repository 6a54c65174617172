// Decides which statements of a foreign dump of MySQL or MariaDB are kept, left out or refused, and counts its rows.
import type { Statement } from "../../foreign/sql-statement.ts";
import { SourceError } from "../source.ts";
import { refuseSettings } from "./foreign-settings.ts";

type Beginning = Pick<Statement, "head" | "line">;
export type ForeignStatements = ReturnType<typeof createForeignStatements>;

const otherwise = "is nothing that a dump has";

/** Statements that no dump of one database has. */
const refused: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:GRANT|REVOKE|(?:CREATE|ALTER|DROP|RENAME) (?:USER|ROLE)|SET PASSWORD)\b/i,
    "changes accounts of the server",
  ],
  [
    /^CREATE (?:OR REPLACE )?(?:DEFINER ?= ?\S+ )?PACKAGE\b/i,
    "makes a package of MariaDB's Oracle mode, which can't be read. Restore the dump by hand, or dump again without --routines",
  ],
  [/^(?:INSTALL|UNINSTALL|CREATE (?:AGGREGATE )?FUNCTION\b.* SONAME)\b/i, "loads a library"],
  [/^LOAD (?:DATA|XML|INDEX)\b/i, "reads a file of the database's server"],
  [/\bINTO (?:OUTFILE|DUMPFILE)\b/i, "writes a file of the database's server"],
  [
    /^(?:CHANGE (?:MASTER|REPLICATION)|(?:START|STOP|RESET) (?:SLAVE|REPLICA|MASTER)|PURGE|KILL|SHUTDOWN|FLUSH|RESET)\b/i,
    "works on the whole server. Dump again without --master-data and --dump-slave",
  ],
  [/^SET\b.*(?:@@|\b)(?:GLOBAL|PERSIST|PERSIST_ONLY)\b/i, "changes settings of the whole server"],
  [
    /^(?!(?:ALTER|COMMIT|CREATE|DELIMITER|DO SETVAL|DROP|INSERT|(?:UN)?LOCK TABLES?|REPLACE|SELECT SETVAL|SET(?! STATEMENT)|START TRANSACTION|TRUNCATE|USE)\b|$)/i,
    otherwise,
  ],
];

/** Settings that only an administrator of the server may change, and that do not affect rows. */
const leftOut =
  /^SET @@(?:GLOBAL\.GTID_PURGED|SESSION\.SQL_LOG_BIN)\b|^SET @MYSQLDUMP_TEMP_LOG_BIN\b/i;

const name = "(`(?:[^`]|``)*`|[^\\s.`(,;]+)";
const database = new RegExp(
  `^(?:USE|(?:CREATE|DROP) (?:DATABASE|SCHEMA)(?: IF (?:NOT )?EXISTS)?|ALTER (?:DATABASE|SCHEMA)(?! (?:CHARACTER|CHARSET|COLLATE|COMMENT|DEFAULT)\\b)) ${name}`,
  "i",
);
const qualified = `${name}(?: ?\\. ?${name})?`;
const filled = new RegExp(
  `^(?:INSERT|REPLACE)(?: (?:LOW_PRIORITY|DELAYED|HIGH_PRIORITY|IGNORE))*(?: INTO)? ${qualified}`,
  "i",
);
const created = new RegExp(`^CREATE TABLE (?:IF NOT EXISTS )?${qualified}`, "i");
const changed = new RegExp(
  `^(?:ALTER|DROP|TRUNCATE)(?: TABLE| VIEW)?(?: IF EXISTS)? ${qualified}`,
  "i",
);
const locked = new RegExp(`^LOCK TABLES? ${qualified}`, "i");
/** Triggers, routines and events, whose bodies are not inspected. */
const program = new RegExp(
  `^CREATE (?:OR REPLACE )?(?:AGGREGATE )?(?:DEFINER ?= ?\\S+ )?(?:AGGREGATE )?(?:TRIGGER|PROCEDURE|FUNCTION|EVENT)(?: IF NOT EXISTS)? ${qualified}`,
  "i",
);
const triggered = new RegExp(
  `^CREATE\\b[^;]*? TRIGGER\\b[^;]*? ON ${qualified} FOR EACH ROW\\b`,
  "i",
);
const seen = new RegExp(`^(?:CREATE|ALTER)\\b[^;]*? VIEW(?: IF NOT EXISTS)? ${qualified}`, "i");
/** Statements in which every qualified name refers to another database. */
const unqualified =
  /^(?:ALTER|DROP|LOCK|TRUNCATE)\b|^CREATE (?:OR REPLACE )?(?:TABLE|SEQUENCE|(?:UNIQUE |FULLTEXT |SPATIAL )?INDEX)\b/i;
const named = /(?:^|[\s,=])(`(?:[^`]|``)*`|[^\s.`(),;='@\d][^\s.`(),;=']*) ?\. ?(`|[^\s.`(),;='])/i;
const viewed = /^(?:CREATE|ALTER)\b.*\bVIEW\b/i;

const unquoted = (text: string): string => {
  const plain = text.startsWith("`") ? text.slice(1, -1).replaceAll("``", "`") : text;
  const bytes = plain.replaceAll("\u0001", " ").replaceAll("\u0002", ".");
  return Buffer.from(bytes, "latin1").toString("utf8");
};

/** @param exporter the program that wrote the text; null = a dump tool */
export function createForeignStatements(
  { exporter }: { exporter: string | null } = { exporter: null },
) {
  const tables: Record<string, number> = {};
  let of: string | null = null;
  let settings = 0;
  let isUtf8 = true;

  function noteDatabase(named: string, line: number): void {
    of ??= named;
    if (of !== named)
      throw new SourceError(
        `Line ${line} is about the database “${named}”, and the file has “${of}” before it. An import takes one database: dump it alone.`,
      );
  }

  function refuseOther({ head, line }: Beginning): void {
    const patterns = program.test(head)
      ? [program, triggered]
      : [filled, created, changed, locked, seen, ...(unqualified.test(head) ? [named] : [])];
    for (const pattern of patterns) {
      const [, first, second] = pattern.exec(head) ?? [];
      if (first === undefined || second === undefined) continue;
      throw new SourceError(
        `Line ${line} names the database “${unquoted(first)}” before a table, so it would work there. Dump again without --databases, or remove the name.`,
      );
    }
  }

  return {
    /** Whether a statement goes into the backup. @throws SourceError for one that is refused */
    isKept({ head, line }: Beginning): boolean {
      const whole = database.exec(head)?.[1];
      if (whole !== undefined) {
        noteDatabase(unquoted(whole), line);
        return false;
      }
      if (leftOut.test(head)) {
        settings += 1;
        return false;
      }
      const reason = refused.find(([pattern]) => pattern.test(head))?.[1];
      if (reason === otherwise)
        throw new SourceError(
          `Line ${line}, “${unquoted(head.slice(0, 60)).trimEnd()}”, ${reason}. ${exporter === null ? "Messages of the dump tool, which 2>&1 writes into a file, have to be removed from it" : `Export again from ${exporter}, with INSERT statements`}. Nothing was imported.`,
        );
      if (reason !== undefined)
        throw new SourceError(`Line ${line} ${reason}. Nothing was imported.`);
      refuseOther({ head, line });
      return true;
    },

    count({ head, line, rows, isAlone, hasMore, hasHighBytes, modes }: Statement): void {
      if (hasHighBytes && !isUtf8)
        throw new SourceError(
          `Line ${line} has more than plain letters outside of texts and quoted names, in another character set than UTF-8, so what they are can't be told. Dump again with --default-character-set=utf8mb4. Nothing was imported.`,
        );
      if (hasMore)
        throw new SourceError(
          `Line ${line} makes a trigger, routine or event, and more stands behind its end, or where it ends can't be told. Nothing was imported.`,
        );
      if (program.test(head)) return;
      const sets = refuseSettings({ head, line, modes });
      isUtf8 = isUtf8 && sets.every((one) => /^(?:utf8\w*)?$/i.test(one));
      // The client would send all of them to the server.
      if (isAlone)
        throw new SourceError(
          `Line ${line} has several statements as one, as no dump does. Nothing was imported.`,
        );
      if (viewed.test(head)) return;
      const fills = filled.exec(head)?.[1];
      if (fills !== undefined && rows === 0)
        throw new SourceError(
          `Line ${line} fills a table without writing out its rows, as no dump does. Nothing was imported.`,
        );
      const table = fills ?? created.exec(head)?.[1];
      if (table !== undefined) {
        const key = unquoted(table);
        if (fills !== undefined && tables[key] === undefined)
          throw new SourceError(
            `Line ${line} fills the table ${key}, which the file doesn't make, so it is of no use alone: ${exporter === null ? "it was dumped with --no-create-info. Dump again without that option, or put a dump with --no-data before it: cat TABLES.sql FILE > WHOLE.sql" : `export again from ${exporter}, with structure and data`}. Nothing was imported.`,
          );
        tables[key] = (tables[key] ?? 0) + rows;
      } else if (/^DROP TABLE\b/i.test(head)) {
        // Older tools create a table as a stand-in for each view first.
        const dropped = changed.exec(head)?.[1];
        if (dropped !== undefined) delete tables[unquoted(dropped)];
      }
    },

    tables: (): Record<string, number> => tables,

    /** Returns lines for the output. */
    notes: (): string[] => [
      ...(of === null ? [] : [`The dump is of the database “${of}”, whose name was left out.`]),
      ...(settings === 0 ? [] : ["Settings that only an administrator may change were left out."]),
    ],
  };
}

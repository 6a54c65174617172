// Reads an export of phpMyAdmin or Adminer: returns the SQL without accounts and events, and checks that the file is complete.
import type { ForeignKind } from "../../foreign/foreign-file.ts";
import { SourceError } from "../source.ts";
import { createForeignStatements } from "./foreign-statements.ts";
import { siftDump, type Beginning } from "./sift.ts";

/** A program whose exports have an end mark. */
export type Exporter = {
  name: string;
  /** @param head beginning of the last statement. @param after what follows it, one character per byte */
  isWhole(head: string, after: string): boolean;
};

export const exportersByKind: Partial<Record<ForeignKind, Exporter>> = {
  "phpmyadmin-sql": {
    name: "phpMyAdmin",
    isWhole: (head, after) =>
      head === "SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION" && after.trim() === "",
  },
  "adminer-sql": {
    name: "Adminer",
    isWhole: (_, after) => /(?:^|\n)-- \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: UTC)?\s*$/.test(after),
  },
};

/** More than the comments between two statements take. */
const betweenBytes = 64 * 1024;

/** Statements that are needless in an empty scratch database: locks, and drops other than of tables that stand in for views. */
const needless = /^(?:(?:UN)?LOCK TABLES?|DROP (?:VIEW|TRIGGER|EVENT|FUNCTION|PROCEDURE))\b/i;
const makesEvent =
  /^CREATE\b(?:(?!\b(?:TABLE|VIEW|TRIGGER|FUNCTION|PROCEDURE|INDEX|SEQUENCE)\b).)*? EVENT\b/i;
/** Settings that decide how an event's text and times are read. */
const readsEvent =
  /^SET (?:NAMES|(?:@@)?(?:SESSION ?\.? ?)?(?:SQL_MODE|TIME_ZONE|CHARACTER_SET_CLIENT))\b/i;

const part = "(?:`(?:[^`]|``)*`|'[^']*'|[\\w.%-]+)";
const definer = new RegExp(
  `^(CREATE\\s+(?:OR\\s+REPLACE\\s+)?(?:ALGORITHM\\s*=\\s*\\w+\\s+)?)DEFINER\\s*=\\s*${part}(?:\\s*@\\s*${part})?\\s+`,
  "i",
);

/** Error that phpMyAdmin writes into an export, in any language, where it could not read something and left it out. */
const unread = /^-- (.*(?:: |\()#\d{4} - .*)$/m;

const bytesOf = (text: string): Buffer => Buffer.from(text, "latin1");
const nothing = (): Buffer => Buffer.alloc(0);

export function createExportReader({ name, isWhole }: Exporter) {
  const statements = createForeignStatements({ exporter: name });
  /** Statements that create events, and settings before them, without their delimiters. */
  const aside: { text: string; isEvent: boolean }[] = [];
  let hasDefiners = false;
  let last = "";
  let between = "";
  let delimiter = ";";

  const withoutDefiner = (text: string): string =>
    text.replace(definer, (_, before: string) => {
      hasDefiners = true;
      return before;
    });

  /** @param passed returns what is passed on of the statement */
  function setAside(isEvent: boolean, passed: (bytes: Buffer) => Buffer) {
    const kept = { text: "", isEvent };
    let whole = "";
    aside.push(kept);
    return (bytes: Buffer): Buffer => {
      whole += bytes.toString("latin1");
      const bare = whole.endsWith(delimiter) ? whole.slice(0, -delimiter.length) : whole;
      kept.text = withoutDefiner(bare).trimEnd();
      return passed(bytes);
    };
  }

  function textOf({ head }: Beginning): (bytes: Buffer) => Buffer {
    if (needless.test(head)) return nothing;
    const command = /^DELIMITER (.*)$/i.exec(head);
    if (command !== null) {
      delimiter = command[1] ?? ";";
      // Written anew, because its line may end with CR LF.
      return () => bytesOf(`DELIMITER ${delimiter}\n`);
    }
    if (makesEvent.test(head)) return setAside(true, nothing);
    if (readsEvent.test(head)) return setAside(false, (bytes) => bytes);
    if (!/^CREATE\b/i.test(head)) return (bytes) => bytes;
    let isFirst = true;
    return (bytes) => {
      if (!isFirst) return bytes;
      isFirst = false;
      return bytesOf(withoutDefiner(bytes.toString("latin1")));
    };
  }

  function ended({ head, line }: Beginning): void {
    const [, told] = unread.exec(between.replaceAll("\r", "")) ?? [];
    if (told !== undefined)
      throw new SourceError(
        `${name} couldn't read all of the database, so the file isn't whole. Before line ${line} it says: “${bytesOf(told).toString()}”. Repair that, and export again.`,
      );
    between = "";
    last = head;
  }

  return {
    /** Yields SQL for an empty database. @throws SourceError for what no export of one database has, and for a truncated file */
    async *read(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      const space = (bytes: Buffer): Buffer => {
        between = (between + bytes.toString("latin1")).slice(-betweenBytes);
        return Buffer.from("\n");
      };
      yield* siftDump(content, statements, { text: textOf, space, ended });
      if (isWhole(last, between)) return;
      throw new SourceError(
        `The file doesn't end as exports of ${name} do: it is cut off, as PHP's limits of time and memory may do it. Export again, or copy the file again.`,
      );
    },

    /** Returns SQL for the events, which would run at once and are kept aside. Statements end with `;;`; one character per byte. */
    events(): string {
      const isEvent = aside.map((one) => one.isEvent);
      return aside
        .slice(0, isEvent.lastIndexOf(true) + 1)
        .map(({ text }) => `${text} ;;\n`)
        .join("");
    },

    /** Number of rows in the file, by table. */
    tables: statements.tables,

    /** Returns lines for the output. */
    notes: (): string[] => [
      ...statements.notes(),
      ...(hasDefiners
        ? [
            "Views, triggers, routines and events run as the account in the inventory from now on: those that the file names are of its own server.",
          ]
        : []),
    ],
  };
}

// Reads an export of phpMyAdmin or Adminer: what of it makes the database anew, beside which accounts and events, and whether it is whole.
import type { ForeignKind } from "../../foreign/foreign-file.ts";
import { SourceError } from "../source.ts";
import { createForeignStatements } from "./foreign-statements.ts";
import { siftDump, type Beginning } from "./sift.ts";

/** A program whose exports say at their end that they are whole. */
export type Exporter = {
  name: string;
  /** @param head of the last statement. @param after what follows it, one character a byte */
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

/** More than the comments that stand between two statements. */
const betweenBytes = 64 * 1024;

/** In an empty database nothing is to be dropped but tables that stand in for views, and nobody else comes. */
const needless = /^(?:(?:UN)?LOCK TABLES?|DROP (?:VIEW|TRIGGER|EVENT|FUNCTION|PROCEDURE))\b/i;
const makesEvent =
  /^CREATE\b(?:(?!\b(?:TABLE|VIEW|TRIGGER|FUNCTION|PROCEDURE|INDEX|SEQUENCE)\b).)*? EVENT\b/i;
/** What an event's text and times are read by. */
const readsEvent =
  /^SET (?:NAMES|(?:@@)?(?:SESSION ?\.? ?)?(?:SQL_MODE|TIME_ZONE|CHARACTER_SET_CLIENT))\b/i;

const part = "(?:`(?:[^`]|``)*`|'[^']*'|[\\w.%-]+)";
const definer = new RegExp(
  `^(CREATE\\s+(?:OR\\s+REPLACE\\s+)?(?:ALGORITHM\\s*=\\s*\\w+\\s+)?)DEFINER\\s*=\\s*${part}(?:\\s*@\\s*${part})?\\s+`,
  "i",
);

/** Of phpMyAdmin, in whatever language: what it can't read it leaves out, and goes on. */
const unread = /^-- (.*(?:: |\()#\d{4} - .*)$/m;

const bytesOf = (text: string): Buffer => Buffer.from(text, "latin1");
const nothing = (): Buffer => Buffer.alloc(0);

export function createExportReader({ name, isWhole }: Exporter) {
  const statements = createForeignStatements({ exporter: name });
  /** Of statements that make events, and of settings before them, without what ends them. */
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

  /** @param passed whether the statement is passed on as well */
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
      // Its line may end as those of Windows do.
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
    /** SQL for an empty database. @throws SourceError for what no export of one database has, and for one that is cut off */
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

    /** SQL that makes the events, which would run at once, each statement ended by `;;`; one character a byte. */
    events(): string {
      const isEvent = aside.map((one) => one.isEvent);
      return aside
        .slice(0, isEvent.lastIndexOf(true) + 1)
        .map(({ text }) => `${text} ;;\n`)
        .join("");
    },

    /** How many rows it writes out, by table. */
    tables: statements.tables,

    /** For the output. */
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

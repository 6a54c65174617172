// SQLite's own work on the files of a database.
import { closeSync, openSync } from "node:fs";
import { checkDatabase, countTables, findUnknownCollations } from "./check.ts";
import type { Unchecked } from "./check-queries.ts";
import { copy, open, type DatabasePath } from "./copy.ts";
import { place, tellState, type PlaceState } from "./place.ts";
import { placeTables, tellTables } from "./place-tables.ts";
import { toError } from "../../../to-error.ts";

export type SqliteWork = {
  /** How long to wait for somebody who holds it. */
  busyMs: number;
} & (
  | /** Copies a database, as of one moment, and checks and counts the copy. */
    { task: "copy"; from: string; to: string }
  /** Copies a database, as of one moment, and says what is wrong with its content; that alone is no failure. */
  | { task: "snapshot"; from: DatabasePath; to: string }
  /** Opens a database, and changes nothing. */
  | { task: "probe"; path: DatabasePath }
  /** Names the collations that a database uses and that SQLite does not know. */
  | { task: "collations"; path: string }
  /** Counts the rows of a database that others may write to. */
  | { task: "count"; path: string }
  /** Checks a file and counts its rows. */
  | { task: "check"; path: DatabasePath }
  /** Puts the content of a file in the place of a live database, in one transaction of SQLite; `note` see place. */
  | { task: "place"; from: string; to: string; note: string }
  /** Puts tables of a file into a live database, in one transaction. */
  | { task: "place tables"; from: string; to: string; note: string; tables: readonly string[] }
  /** Tells whether that was cut off before its end. */
  | { task: "tell tables"; from: string; to: string; note: string; tables: readonly string[] }
  /** Opens a database for its journal to be rolled back, if one was left. */
  | { task: "recover"; path: string }
  /** Tells whether a place that was cut off had come to its end; `scratch` is for a copy. */
  | { task: "tell"; from: string; to: string; note: string; scratch: string }
);

export type SqliteAnswer =
  | {
      ok: true;
      tables: Record<string, number>;
      /** What could not be checked. */
      notes: Unchecked[];
      /** Of a snapshot: what is wrong with its content. */
      problem: string | null;
      state?: PlaceState;
    }
  | { ok: false; code: string; message: string };

type Done = Extract<SqliteAnswer, { ok: true }>;

const done: Done = { ok: true, tables: {}, notes: [], problem: null };

/** What is wrong with a copy, in words; null = nothing is. */
function findProblem(path: string, busyMs: number): Pick<Done, "notes" | "problem"> {
  try {
    return { notes: checkDatabase(path, busyMs).notes, problem: null };
  } catch (error) {
    return { notes: [], problem: toError(error).message };
  }
}

export const performSqliteWork = (work: SqliteWork): Promise<SqliteAnswer> =>
  perform(work).catch(describe);

async function perform(work: SqliteWork): Promise<Done> {
  const { busyMs } = work;
  switch (work.task) {
    case "copy":
      // Made here, since SQLite would make it as wide as the umask allows.
      closeSync(openSync(work.to, "wx", 0o600));
      await copy(work.from, work.to, busyMs);
      return { ...done, ...checkDatabase(work.to, busyMs) };
    case "snapshot":
      closeSync(openSync(work.to, "wx", 0o600));
      await copy(work.from, work.to, busyMs);
      return { ...done, ...findProblem(work.to, busyMs) };
    case "probe":
    case "recover": {
      const database = open(work.path, work.task === "probe", busyMs);
      try {
        database.prepare("select count(*) from sqlite_schema").get();
      } finally {
        database.close();
      }
      return done;
    }
    case "check":
      return { ...done, ...checkDatabase(work.path, busyMs) };
    case "count":
      return { ...done, tables: countTables(work.path, busyMs) };
    case "collations":
      return { ...done, notes: findUnknownCollations(work.path, busyMs) };
    case "place":
      await place(work, busyMs);
      return done;
    case "place tables":
      placeTables(work, busyMs);
      return done;
    case "tell tables":
      return { ...done, state: await tellTables(work, busyMs) };
    case "tell":
      return { ...done, state: await tellState(work, busyMs) };
  }
}

function describe(error: unknown): SqliteAnswer {
  const { message, code, errcode }: NodeJS.ErrnoException & { errcode?: number } = toError(error);
  return { ok: false, code: String(errcode ?? code ?? ""), message };
}

// Performs SQLite's operations on the files of a database.
import { closeSync, openSync } from "node:fs";
import { checkDatabase, countTables, findUnknownCollations } from "./check.ts";
import type { Unchecked } from "./check-queries.ts";
import { copy, open, type DatabasePath } from "./copy.ts";
import { place, tellState, type PlaceState } from "./place.ts";
import { placeTables, tellTables } from "./place-tables.ts";
import { toError } from "../../../to-error.ts";

export type SqliteWork = {
  /** How long to wait for a locked database. */
  busyMs: number;
} & (
  | /** Makes a consistent copy of a database, checks it and counts its rows. */
    { task: "copy"; from: string; to: string }
  /** Makes a consistent copy of a database, and reports damage, which alone is no failure. */
  | { task: "snapshot"; from: DatabasePath; to: string }
  /** Opens a database without changing it. */
  | { task: "probe"; path: DatabasePath }
  /** Finds collations that a database uses and that SQLite does not have. */
  | { task: "collations"; path: string }
  /** Counts the rows of a database that others may write to. */
  | { task: "count"; path: string }
  /** Checks a file and counts its rows. */
  | { task: "check"; path: DatabasePath }
  /** Replaces the content of a live database by that of a file, in one transaction of SQLite. `note`: see `Place`. */
  | { task: "place"; from: string; to: string; note: string }
  /** Replaces tables of a live database by those of a file, in one transaction. */
  | { task: "place tables"; from: string; to: string; note: string; tables: readonly string[] }
  /** Determines whether an interrupted `place tables` was completed. */
  | { task: "tell tables"; from: string; to: string; note: string; tables: readonly string[] }
  /** Opens a database, so that a leftover journal is rolled back. */
  | { task: "recover"; path: string }
  /** Determines whether an interrupted `place` was completed. `scratch`: path for a copy. */
  | { task: "tell"; from: string; to: string; note: string; scratch: string }
);

export type SqliteAnswer =
  | {
      ok: true;
      tables: Record<string, number>;
      /** Notes about what could not be checked. */
      notes: Unchecked[];
      /** For a snapshot: damage that the check found. */
      problem: string | null;
      state?: PlaceState;
    }
  | { ok: false; code: string; message: string };

type Done = Extract<SqliteAnswer, { ok: true }>;

const done: Done = { ok: true, tables: {}, notes: [], problem: null };

/** Checks a copy. `problem`: the damage; null = none. */
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
      // Created here, because SQLite would create it with all permissions that the umask allows.
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

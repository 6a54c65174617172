// SQLite's own work, in a thread of its own: a check of a large file would hold up the whole service.
import type { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { copy, open } from "./sqlite-copy.ts";
import { place, tellState, type PlaceState } from "./sqlite-place.ts";

export type SqliteWork = {
  /** How long to wait for somebody who holds it. */
  busyMs: number;
} & (
  | /** Copies a database, as of one moment, and checks and counts the copy. */
    { task: "copy"; from: string; to: string }
  /** Checks a file and counts its rows. */
  | { task: "check"; path: string }
  /** Puts the content of a file in the place of a live database, in one transaction of SQLite; `note` see place. */
  | { task: "place"; from: string; to: string; note: string }
  /** Opens a database for its journal to be rolled back, if one was left. */
  | { task: "recover"; path: string }
  /** Tells whether a place that was cut off had come to its end; `scratch` is for a copy. */
  | { task: "tell"; from: string; to: string; note: string; scratch: string }
);

export type SqliteAnswer =
  | { ok: true; tables: Record<string, number>; state?: PlaceState }
  | { ok: false; code: string; message: string };

function check(path: string, busyMs: number): Record<string, number> {
  const database = open(path, true, busyMs);
  try {
    const found = database.prepare("pragma integrity_check").all();
    const [first] = found.map((row) => String(row["integrity_check"]));
    if (first !== "ok") throw new Error(`its integrity check says: ${first ?? "nothing"}`);
    return countRows(database);
  } finally {
    database.close();
  }
}

/** Virtual tables are left out, and the shadow tables that hold what they show: their rows are no rows of the user's. */
function countRows(database: DatabaseSync): Record<string, number> {
  const names = database
    .prepare("select name from pragma_table_list where schema = 'main' and type = 'table'")
    .all()
    .map((row) => String(row["name"]))
    .filter((name) => !name.startsWith("sqlite_"));
  return Object.fromEntries(
    names.map((name) => {
      const row = database
        .prepare(`select count(*) as rows from "${name.replaceAll('"', '""')}"`)
        .get();
      return [name, Number(row?.["rows"])];
    }),
  );
}

async function perform(work: SqliteWork): Promise<SqliteAnswer> {
  const { busyMs } = work;
  switch (work.task) {
    case "copy":
      await copy(work.from, work.to, busyMs);
      return { ok: true, tables: check(work.to, busyMs) };
    case "check":
      return { ok: true, tables: check(work.path, busyMs) };
    case "place":
      await place(work, busyMs);
      return { ok: true, tables: {} };
    case "tell":
      return { ok: true, tables: {}, state: await tellState(work, busyMs) };
    case "recover": {
      const database = open(work.path, false, busyMs);
      try {
        database.prepare("select count(*) from sqlite_schema").get();
      } finally {
        database.close();
      }
      return { ok: true, tables: {} };
    }
  }
}

function describe(error: unknown): SqliteAnswer {
  const { message, code, errcode } = error as Error & { code?: string; errcode?: number };
  return { ok: false, code: String(errcode ?? code ?? ""), message };
}

const answer = await perform(workerData as SqliteWork).catch(describe);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port to a thread has no origin
parentPort?.postMessage(answer);

// SQLite's own work, in a thread of its own: a check of a large file would hold up the whole service.
import { backup, DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

export type SqliteWork =
  /** Copies a database, as of one moment, and checks and counts the copy. */
  | { task: "copy"; from: string; to: string }
  /** Checks a file and counts its rows. */
  | { task: "check"; path: string }
  /** Puts the content of a file in the place of a live database, in one transaction of SQLite. */
  | { task: "place"; from: string; to: string }
  /** Opens a database for its journal to be rolled back, if one was left. */
  | { task: "recover"; path: string };

export type SqliteAnswer =
  | { ok: true; tables: Record<string, number> }
  | { ok: false; code: string; message: string };

/** How long to wait for somebody who writes. */
const busyMs = 20_000;
/** All pages in one step: by smaller ones a database that is written to would begin anew for ever. */
const allPages = 2_147_483_647;

const open = (path: string, readOnly: boolean) =>
  new DatabaseSync(path, { readOnly, timeout: busyMs });

function check(path: string): Record<string, number> {
  const database = open(path, true);
  try {
    const found = database.prepare("pragma integrity_check").all();
    const [first] = found.map((row) => String(row["integrity_check"]));
    if (first !== "ok") throw new Error(`its integrity check says: ${first ?? "nothing"}`);
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
  } finally {
    database.close();
  }
}

async function copy(from: string, to: string): Promise<void> {
  const database = open(from, true);
  try {
    await backup(database, to, { rate: allPages });
  } finally {
    database.close();
  }
}

/** Waits until nobody writes, so that the copy into it does not meet somebody half way. */
function waitForWriters(path: string): void {
  const database = open(path, false);
  try {
    database.exec("begin immediate; rollback");
  } finally {
    database.close();
  }
}

async function perform(work: SqliteWork): Promise<Record<string, number>> {
  switch (work.task) {
    case "copy":
      await copy(work.from, work.to);
      return check(work.to);
    case "check":
      return check(work.path);
    case "place":
      waitForWriters(work.to);
      await copy(work.from, work.to);
      return {};
    case "recover": {
      const database = open(work.path, false);
      database.prepare("select count(*) from sqlite_schema").get();
      database.close();
      return {};
    }
  }
}

function describe(error: unknown): SqliteAnswer {
  const { message, code, errcode } = error as Error & { code?: string; errcode?: number };
  return { ok: false, code: String(errcode ?? code ?? ""), message };
}

const answer: SqliteAnswer = await perform(workerData as SqliteWork).then(
  (tables) => ({ ok: true, tables }),
  describe,
);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port to a thread has no origin
parentPort?.postMessage(answer);

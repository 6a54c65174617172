// Copies the SQLite databases inside a site's folder by SQLite's online backup, as the site's account.
import { createReadStream } from "node:fs";
import { link, lstat, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Writable } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import { callbackify } from "node:util";
import type { LocalHost } from "../../../hosts/host.ts";
import { defineTask } from "../../../hosts/task.ts";
import type { DatabaseCopy, SiteDatabases } from "./rewrite.ts";
import { folderTasks } from "./tasks.ts";
import { pathBelow, showName } from "./walk.ts";
import { tidying } from "./place.ts";
import { reviveSourceError, type Attempt, type SiteDatabase } from "../source.ts";
import { isNotUsable } from "../sqlite/failures.ts";
import { textsOf } from "../sqlite/check-queries.ts";
import { checkRoom, removeFile } from "../sqlite/files.ts";
import {
  hasSqliteHeader,
  logEnds,
  smallestDatabaseBytes,
  sqliteHeaderBytes,
} from "../sqlite/header.ts";
import { doSqliteWork, workWithoutThread } from "../sqlite/work.ts";
import { toError } from "../../../to-error.ts";

/** How long to wait for a locked database; even one that is written to all the time is unlocked within moments. */
const busyMs = 20_000;

/** Serializable, because it is sent to a process of the site's account. */
type Target = {
  root: string;
  /** Path below the root, one character per byte. */
  name: string;
  /** Whether the task runs in a process of its own, which needs no thread. */
  isApart: boolean;
};

export type Snapshot = { sizeBytes: number; problem: string | null; notes: string[] };

const pathOf = ({ root, name }: Target): Buffer => pathBelow(root, Buffer.from(name, "latin1"));
/** @param name as archived, here or on another machine, where names begin with `./` */
export const shown = (name: string): string =>
  showName(Buffer.from(name.replace(/^\.\//, ""), "latin1"));

/** @returns false also for a path that does not exist or is no file */
const isSqliteFile = defineTask(
  folderTasks,
  "isSqliteFile",
  async (target: Target, { signal }): Promise<boolean> => {
    if (target.isApart) workWithoutThread();
    const path = pathOf(target);
    if (!(await startsAsDatabase(path))) return false;
    try {
      await doSqliteWork({ task: "probe", path, busyMs }, shown(target.name), signal);
      return true;
    } catch (error) {
      if (isNotUsable(error)) return false;
      throw error;
    }
  },
);

const hasLog = defineTask(folderTasks, "hasLog", async (target: Target): Promise<boolean> => {
  for (const end of logEnds) {
    const log = await lstat(Buffer.concat([pathOf(target), Buffer.from(end)])).catch(() => null);
    if (log !== null && log.isFile() && log.size > 0) return true;
  }
  return false;
});

/** Whether a file begins like a SQLite database. A link is not followed, because its target is another entry or outside. */
export async function startsAsDatabase(path: Buffer): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  if (found === null || !found.isFile() || found.size < smallestDatabaseBytes) return false;
  const file = await open(path, "r").catch(() => null);
  if (file === null) return false;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(sqliteHeaderBytes), 0, null, 0);
    return hasSqliteHeader(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/** @returns the copy in `to`, or why SQLite cannot open the database. @throws SourceError where copying failed */
const snapshotDatabase = defineTask(
  folderTasks,
  "snapshotDatabase",
  async (
    target: Target & { scratchFolder: string; to: string },
    { signal },
  ): Promise<Snapshot | string> => {
    if (target.isApart) workWithoutThread();
    const [path, name] = [pathOf(target), shown(target.name)];
    const { scratchFolder, to } = target;
    try {
      const sizes = await Promise.all(
        ["", "-wal"].map((end) =>
          lstat(Buffer.concat([path, Buffer.from(end)])).then(
            ({ size }) => size,
            () => 0,
          ),
        ),
      );
      await checkRoom(scratchFolder, (sizes[0] ?? 0) + (sizes[1] ?? 0), name);
      await removeFile(to);
      const work = { task: "snapshot", from: path, to, busyMs } as const;
      const { notes, problem } = await doSqliteWork(work, name, signal);
      return { sizeBytes: (await lstat(to)).size, problem, notes: textsOf(notes) };
    } catch (error) {
      await removeFile(to);
      if (isNotUsable(error)) return toError(error).message;
      throw error;
    }
  },
);

const sendCopy = defineTask(
  folderTasks,
  "sendCopy",
  async (file: string, { output, signal }): Promise<void> => {
    await pipeline(createReadStream(file, { highWaterMark: 256 * 1024 }), output, {
      signal,
      end: false,
    });
  },
);

const removeCopy = defineTask(folderTasks, "removeCopy", removeFile);

/** Returns the problem of a restored database; null = it is sound. It is linked to `at`, because SQLite does not open long paths. */
export const checkRestored = defineTask(
  folderTasks,
  "checkRestored",
  async ({ at, ...target }: Target & { at: string }, { signal }): Promise<string | null> => {
    if (target.isApart) workWithoutThread();
    await rm(at, { force: true });
    await link(pathOf(target), at);
    try {
      await doSqliteWork({ task: "check", path: at, busyMs }, shown(target.name), signal);
      return null;
    } catch (error) {
      signal.throwIfAborted();
      return toError(error).message;
    } finally {
      await removeFile(at);
    }
  },
);

export type FoundDatabases = SiteDatabases & {
  /** The databases, for the manifest. */
  found: SiteDatabase[];
  /** Names of databases that were replaced by copies. */
  copied: ReadonlySet<string>;
  /** Removes a copy that a failure left. */
  clear(): Promise<void>;
};

/** Reads the databases of one folder, on its machine. Names are as archived, one character per byte. */
type DatabaseReader = Pick<SiteDatabases, "isDatabase" | "hasLog"> & {
  /** @returns the copy, or why SQLite cannot open the database */
  snapshot(name: string): Promise<Snapshot | string>;
  /** Sends the last copy, and removes it. */
  send: DatabaseCopy["send"];
  /** Removes a copy that a failure left. */
  clear(): Promise<void>;
};

/** @param say called for each database, with a line for the operator */
export function tellDatabases(
  { isDatabase, hasLog, snapshot, send, clear }: DatabaseReader,
  say: (line: string) => void,
): FoundDatabases {
  const found: SiteDatabase[] = [];
  const copied = new Set<string>();
  return {
    found,
    copied,
    async clear() {
      if (found.length > 0) await clear();
    },
    isDatabase,
    hasLog,
    async copy(name): Promise<DatabaseCopy | null> {
      const copy = await snapshot(name);
      if (typeof copy === "string") {
        const problem = `SQLite cannot open it: ${copy}`;
        found.push({ name: shown(name), problem, isOpened: false });
        say(`${shown(name)} begins like a SQLite database, but is kept as it lies. ${problem}`);
        return null;
      }
      const { sizeBytes, problem, notes } = copy;
      found.push({ name: shown(name), problem });
      copied.add(shown(name));
      say(
        `${shown(name)} is a SQLite database, copied by SQLite as of one moment${problem === null ? "" : `; in the site itself, ${problem}`}.`,
      );
      for (const note of notes) say(`${shown(name)}: ${note}`);
      return { sizeBytes, send };
    },
  };
}

/** @param say called for each database, with a line for the operator */
export function createSiteDatabases(
  host: LocalHost,
  root: string,
  scratchFolder: string,
  attempt: Pick<Attempt, "id" | "signal">,
  say: (line: string) => void,
): FoundDatabases {
  const { signal } = attempt;
  const isApart = !host.isOwn;
  // The start of the service removes files of this name, too.
  const to = join(scratchFolder, `dump-${attempt.id}-site.sqlite`);
  const perform: LocalHost["perform"] = async (task, args, streams = {}) => {
    try {
      return await host.perform(task, args, { signal, ...streams });
    } catch (error) {
      throw reviveSourceError(error);
    }
  };
  // Errors are ignored: a file that is left takes space until the next start, but does no other harm.
  const clear = () => host.perform(removeCopy, to, { signal: tidying() }).catch(() => undefined);

  const reader: DatabaseReader = {
    isDatabase: (name) => perform(isSqliteFile, { root, name, isApart }),
    hasLog: (name) => perform(hasLog, { root, name, isApart }),
    snapshot: (name) => perform(snapshotDatabase, { root, name, isApart, scratchFolder, to }),
    async send(take) {
      const taken = callbackify(take);
      const sink = new Writable({ write: (piece: Buffer, _encoding, done) => taken(piece, done) });
      // The task, or the awaited end, reports the error.
      sink.on("error", () => undefined);
      await perform(sendCopy, to, { output: sink });
      sink.end();
      await finished(sink);
      await clear();
    },
    clear,
  };
  return tellDatabases(reader, say);
}

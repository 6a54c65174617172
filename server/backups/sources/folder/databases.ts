// SQLite databases inside a site's folder: each is copied by SQLite's online backup, as the site's account.
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

/** A database that is being written to all the time lets go within moments; one that is held for longer is reported. */
const busyMs = 20_000;

/** Plain values, since they cross over to a process that is the site's account. */
type Target = {
  root: string;
  /** Below the root, one character a byte. */
  name: string;
  /** It runs in a process of its own, which needs no thread. */
  isApart: boolean;
};

export type Snapshot = { sizeBytes: number; problem: string | null; notes: string[] };

const pathOf = ({ root, name }: Target): Buffer => pathBelow(root, Buffer.from(name, "latin1"));
/** @param name as archived, here or on another machine, where names begin with `./` */
export const shown = (name: string): string =>
  showName(Buffer.from(name.replace(/^\.\//, ""), "latin1"));

/** @returns false also for what is not there, or is no file */
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

/** A link is not followed: what it leads to is another entry, or outside. */
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

/** @returns why SQLite cannot copy it, or what it copied to `to`. @throws SourceError when it could but did not */
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

/** What a drill found of a database, in words; null = it is sound. A name of its own, because SQLite takes no long ones. */
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
  /** What the manifest says of them. */
  found: SiteDatabase[];
  /** Names of those whose bytes were exchanged. */
  copied: ReadonlySet<string>;
  /** Removes what a failure has left. */
  clear(): Promise<void>;
};

/** How the databases of one folder are read, where they lie. Names are as archived, one character a byte. */
type DatabaseReader = Pick<SiteDatabases, "isDatabase" | "hasLog"> & {
  /** @returns why SQLite cannot copy it, or what it copied */
  snapshot(name: string): Promise<Snapshot | string>;
  /** Hands the last copy on, and removes it. */
  send: DatabaseCopy["send"];
  /** Removes what a failure has left. */
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
  // A name that the start of the service clears away, too.
  const to = join(scratchFolder, `dump-${attempt.id}-site.sqlite`);
  const perform: LocalHost["perform"] = async (task, args, streams = {}) => {
    try {
      return await host.perform(task, args, { signal, ...streams });
    } catch (error) {
      throw reviveSourceError(error);
    }
  };
  // What stays lying there takes space until the next start, but makes no backup wrong.
  const clear = () => host.perform(removeCopy, to, { signal: tidying() }).catch(() => undefined);

  const reader: DatabaseReader = {
    isDatabase: (name) => perform(isSqliteFile, { root, name, isApart }),
    hasLog: (name) => perform(hasLog, { root, name, isApart }),
    snapshot: (name) => perform(snapshotDatabase, { root, name, isApart, scratchFolder, to }),
    async send(take) {
      const taken = callbackify(take);
      const sink = new Writable({ write: (piece: Buffer, _encoding, done) => taken(piece, done) });
      // Told by the task, or by the end that is awaited.
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

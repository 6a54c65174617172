// The source for a SQLite database, which the online backup copies while it is in use, and restores, so that processes that have it
// open see one transaction. If the file were swapped, they would continue to write to the old one.
import { createReadStream } from "node:fs";
import { rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { versions } from "node:process";
import { pipeline } from "node:stream/promises";
import { sizeInWords } from "../../formatting.ts";
import { followLinks } from "../follow-links.ts";
import { SourceError, type Attempt, type Source } from "../source.ts";
import { tellCopied, textsOf } from "./check-queries.ts";
import { isUnsound } from "./failures.ts";
import { createSqliteIntake, type Tried } from "./intake.ts";
import { checkRoom, isThere, putInPlace, removeFile, writeFile } from "./files.ts";
import { unwritten, type PlaceState } from "./place.ts";
import { doSqliteWork } from "./work.ts";
import { compareTables } from "../tables.ts";
import { toError } from "../../../to-error.ts";

export type SqliteOptions = {
  name: string;
  /** Absolute path of the database file. */
  path: string;
  /** Folder for temporary copies; not accessible to other accounts. */
  scratchFolder: string;
  /** How long to wait for a locked database. */
  busyMs?: number;
  /** The only tables that a restore replaces; null = everything. */
  tables?: readonly string[] | null;
};

export type SqliteSource = Source & {
  countRows(signal: AbortSignal): Promise<Record<string, number> | null>;
  warnings(signal: AbortSignal): Promise<string[]>;
  /** Writes a database to a scratch file, checks it, counts its rows, and removes it. */
  tryOut(from: Readable, attempt: Attempt): Promise<Tried>;
  /** Removes the copy of a dump that was killed. */
  clear(attempt: Pick<Attempt, "id">): Promise<void>;
};

const chunkBytes = 256 * 1024;

/** Returns the version of SQLite in this program. */
export const tellSqliteVersion = (): Record<string, string> => ({
  SQLite: versions.sqlite ?? "unknown",
});

export function createSqliteSource({
  name,
  path,
  scratchFolder,
  busyMs = 20_000,
  tables: wanted = null,
}: SqliteOptions): SqliteSource {
  const besideOf = (file: string, { id }: Pick<Attempt, "id">) =>
    `${file}.quarterdeck-restore-${id}`;
  const sibling = (attempt: Pick<Attempt, "id">) => besideOf(path, attempt);
  const noteOf = (attempt: Attempt) => `${sibling(attempt)}-note`;
  const scratch = (use: string, { id }: Pick<Attempt, "id">) =>
    join(scratchFolder, `${use}-${id}.sqlite`);

  const find = () =>
    stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
      throw new SourceError(
        `${path} (database ${name}) cannot be looked at by the account that works on it (${error.code}).`,
      );
    });

  async function sizeBytes(): Promise<number> {
    const found = await find();
    if (found === null)
      throw new SourceError(
        `${path} is not there. Correct the path of database “${name}” in the inventory, or restore a backup of it.`,
      );
    const log = await stat(`${path}-wal`).catch(() => null);
    return found.size + (log?.size ?? 0);
  }

  const recover = (signal: AbortSignal) =>
    doSqliteWork({ task: "recover", path, busyMs }, path, signal);

  /** Removes the files of a restore, in an order that lets `tellCutOff` determine the state after a kill. */
  async function clearRestore(attempt: Attempt, isRestored: boolean): Promise<void> {
    await rm(unwritten(noteOf(attempt)), { force: true });
    if (!isRestored) await rm(noteOf(attempt), { force: true });
    await removeFile(besideOf(await followLinks(path), attempt));
    await removeFile(sibling(attempt));
    await rm(noteOf(attempt), { force: true });
  }

  async function tellCutOff(attempt: Attempt): Promise<PlaceState> {
    const [file, note] = [sibling(attempt), noteOf(attempt)];
    const [isReceived, isNoted] = await Promise.all([isThere(file), isThere(note)]);
    if (!isNoted) return isReceived ? "as it was" : "unknown";
    if (!isReceived) return (await stat(note)).size > 0 ? "restored" : "unknown";
    const copy = scratch("settle", attempt);
    try {
      if (wanted !== null) {
        const work = { task: "tell tables", from: file, to: path, note, tables: wanted } as const;
        return (await doSqliteWork({ ...work, busyMs }, path, attempt.signal)).state ?? "unknown";
      }
      await checkRoom(scratchFolder, await sizeBytes(), path);
      await removeFile(copy);
      const work = { task: "tell", from: file, to: path, note, scratch: copy, busyMs } as const;
      return (await doSqliteWork(work, path, attempt.signal)).state ?? "unknown";
    } catch (error) {
      attempt.signal.throwIfAborted();
      attempt.say(`Whether the restore had ended cannot be told: ${toError(error).message}`);
      return "unknown";
    } finally {
      await removeFile(copy);
    }
  }

  async function tryOut(from: Readable, attempt: Attempt): Promise<Tried> {
    const file = scratch("drill", attempt);
    try {
      await checkRoom(scratchFolder, 0, path);
      await writeFile(from, file, attempt.signal);
      const work = { task: "check", path: file, busyMs } as const;
      const { tables, notes } = await doSqliteWork(work, "The file", attempt.signal);
      return { tables, notes };
    } finally {
      await removeFile(file);
    }
  }

  return {
    extension: "sqlite",
    tools: tellSqliteVersion,

    async rehearse(signal) {
      const size = await sizeBytes();
      await recover(signal);
      await checkRoom(scratchFolder, size, path);
      return `SQLite database ${path}, ${sizeInWords(size)}.`;
    },

    async warnings(signal) {
      const work = { task: "collations", path, busyMs } as const;
      return textsOf((await doSqliteWork(work, path, signal)).notes);
    },

    async dump(into, attempt) {
      const copy = scratch("dump", attempt);
      try {
        await checkRoom(scratchFolder, await sizeBytes(), path);
        await removeFile(copy);
        const work = { task: "copy", from: path, to: copy, busyMs } as const;
        const { tables, notes } = await doSqliteWork(work, path, attempt.signal);
        attempt.say(tellCopied(tables, notes));
        await pipeline(createReadStream(copy, { highWaterMark: chunkBytes }), into, {
          signal: attempt.signal,
        });
        await removeFile(copy);
        const found = await find();
        if (found === null) return { kind: "database", tables };
        const { mode, uid, gid } = found;
        return { kind: "database", tables, file: { mode: mode & 0o777, uid, gid } };
      } catch (error) {
        // Before the receiver gets the error, and perhaps retries.
        await removeFile(copy);
        into.destroy(error instanceof Error ? error : undefined);
        throw error;
      }
    },

    clear: (attempt) => removeFile(scratch("dump", attempt)),

    exists: async () => (await find()) !== null,

    async countRows(signal) {
      if ((await find()) === null) return null;
      return (await doSqliteWork({ task: "count", path, busyMs }, path, signal)).tables;
    },
    isBuiltAside: true,

    async restore(from, attempt, manifest = null) {
      const { signal, say } = attempt;
      const file = sibling(attempt);
      const known = manifest?.kind === "database" ? (manifest.file ?? null) : null;
      const put = async () => {
        // The target of a link is replaced, not the link, which may lead from one release to a file that all releases share.
        const real = await followLinks(path);
        const beside = besideOf(real, attempt);
        if ((await followLinks(file)) !== beside) {
          await writeFile(createReadStream(file), beside, signal);
          // The scratch file must not look as if it were still to be restored afterwards, and no note may exist before the rename.
          await rm(noteOf(attempt), { force: true });
          await removeFile(file);
        }
        if (!(await putInPlace(beside, real, known)))
          say(`${path} could not be given back to its owner: the account may not do that.`);
      };
      let isRestored = false;
      try {
        // First, because the note of an earlier attempt would be taken for this one's.
        await rm(noteOf(attempt), { force: true });
        await writeFile(from, file, signal);
        await doSqliteWork({ task: "check", path: file, busyMs }, file, signal);
        if (wanted !== null) {
          // Throws where the live database does not exist.
          await sizeBytes();
          const work = {
            task: "place tables",
            from: file,
            to: path,
            note: noteOf(attempt),
          } as const;
          await doSqliteWork({ ...work, tables: wanted, busyMs }, path, signal);
        } else if ((await find()) === null) await put();
        else
          try {
            const work = { task: "place", from: file, to: path, note: noteOf(attempt) } as const;
            await doSqliteWork({ ...work, busyMs }, path, signal);
          } catch (error) {
            if (!isUnsound(error)) throw error;
            await put();
            say(`${path} was no sound database and was replaced. Restart what had it open.`);
          }
        isRestored = true;
      } finally {
        from.destroy();
        await clearRestore(attempt, isRestored);
      }
    },

    tryOut,

    intake: (file) => createSqliteIntake(file, tryOut),

    async drill(from, manifest, attempt) {
      const { tables, notes } = await tryOut(from, attempt);
      return [compareTables(manifest, tables), ...textsOf(notes)].join(" ");
    },

    async settle(attempt) {
      if ((await find()) !== null)
        // SQLite rolls back an interrupted transaction when the database is opened; do that at once.
        await recover(attempt.signal).catch((error: unknown) => {
          // A damaged database may be what the restore was to replace.
          if (!isUnsound(error)) throw error;
        });
      const state = await tellCutOff(attempt);
      // Emptied, so that after a second interruption the note does not determine a state.
      if (state === "unknown" && (await isThere(noteOf(attempt))))
        await truncate(noteOf(attempt), 0);
      await clearRestore(attempt, state !== "as it was");
      for (const use of ["dump", "drill", "settle"]) await removeFile(scratch(use, attempt));
      return state;
    },
  };
}

// A SQLite database: copied by its online backup while it is written to, and put back by the same means, so that
// whoever holds it open sees one transaction. A file that is swapped in would leave them writing into the old one.
import { createReadStream, createWriteStream } from "node:fs";
import { chmod, chown, open, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { sizeInWords } from "./size-in-words.ts";
import { SourceError, type Attempt, type Source } from "./source.ts";
import { doSqliteWork } from "./sqlite-work.ts";
import { compareTables } from "./tables.ts";

export type SqliteOptions = {
  name: string;
  /** Absolute path of the database file. */
  path: string;
  /** For copies that must lie on disk for a while; closed to other accounts. */
  scratchFolder: string;
};

const chunkBytes = 256 * 1024;
/** What SQLite keeps beside a database; one that was left by another content must never be applied to a new file. */
const companions = ["-journal", "-wal", "-shm"];

export function createSqliteSource({ name, path, scratchFolder }: SqliteOptions): Source {
  const sibling = ({ id }: Pick<Attempt, "id">) => `${path}.quarterdeck-restore-${id}`;
  const scratch = (use: string, { id }: Pick<Attempt, "id">) =>
    join(scratchFolder, `${use}-${id}.sqlite`);

  async function removeFile(file: string): Promise<void> {
    for (const end of ["", ...companions]) await rm(`${file}${end}`, { force: true });
  }

  const find = () =>
    stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
      throw new SourceError(
        `${path} (database ${name}) cannot be looked at by the account that runs the service (${error.code}).`,
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

  async function checkRoom(neededBytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(scratchFolder);
    if (bavail * bsize < neededBytes)
      throw new SourceError(
        `A copy of ${path} needs ${sizeInWords(neededBytes)} in ${scratchFolder}, where ${sizeInWords(bavail * bsize)} are left.`,
      );
  }

  async function write(from: Readable, file: string, signal: AbortSignal): Promise<void> {
    await removeFile(file);
    await pipeline(from, createWriteStream(file, { mode: 0o600, flush: true }), { signal });
  }

  /** Brings in a database where none is. */
  async function putNew(file: string): Promise<void> {
    const folder = await stat(dirname(path));
    // The application's account owns the folder; root must not leave it a file that it cannot use.
    await chown(file, folder.uid, folder.gid).catch(() => undefined);
    await chmod(file, 0o640);
    for (const end of companions) await rm(`${path}${end}`, { force: true });
    await rename(file, path);
    const handle = await open(dirname(path), "r");
    await handle.sync();
    await handle.close();
  }

  return {
    extension: "sqlite",

    async rehearse(signal) {
      const size = await sizeBytes();
      await doSqliteWork({ task: "recover", path }, path, signal);
      await checkRoom(size);
      return `SQLite database ${path}, ${sizeInWords(size)}.`;
    },

    async dump(into, attempt) {
      const copy = scratch("dump", attempt);
      try {
        await checkRoom(await sizeBytes());
        await removeFile(copy);
        const work = { task: "copy", from: path, to: copy } as const;
        const tables = await doSqliteWork(work, path, attempt.signal);
        attempt.say(compareTables(null, tables).replace(/ came back.*/, ", found sound."));
        await pipeline(createReadStream(copy, { highWaterMark: chunkBytes }), into, {
          signal: attempt.signal,
        });
        return { kind: "database", tables };
      } finally {
        await removeFile(copy);
      }
    },

    exists: async () => (await find()) !== null,

    async restore(from, attempt) {
      const file = sibling(attempt);
      try {
        await write(from, file, attempt.signal);
        await doSqliteWork({ task: "check", path: file }, file, attempt.signal);
        if ((await find()) === null) await putNew(file);
        else await doSqliteWork({ task: "place", from: file, to: path }, path, attempt.signal);
      } finally {
        await removeFile(file);
      }
    },

    async drill(from, manifest, attempt) {
      const file = scratch("drill", attempt);
      try {
        await write(from, file, attempt.signal);
        const tables = await doSqliteWork({ task: "check", path: file }, file, attempt.signal);
        return compareTables(manifest, tables);
      } finally {
        await removeFile(file);
      }
    },

    async settle(attempt) {
      // SQLite rolls back what was cut off as soon as somebody opens it; here at once, not at the next visitor.
      if ((await find()) !== null)
        await doSqliteWork({ task: "recover", path }, path, attempt.signal);
      for (const file of [sibling(attempt), scratch("dump", attempt), scratch("drill", attempt)])
        await removeFile(file);
      return "unknown";
    },
  };
}

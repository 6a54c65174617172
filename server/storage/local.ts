// Stores backups in a folder of this machine, or of a disk that is mounted there.
import { constants } from "node:fs";
import {
  open,
  realpath,
  rename,
  stat,
  statfs,
  unlink,
  writeFile,
  type FileHandle,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { addAbortSignal } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createPieceMemory } from "../piece-memory.ts";
import { diagnose } from "./disk-errors.ts";
import { createIn, isInside, isMissing, listFolder, removeEmpty } from "./local-folders.ts";
import { refuseUnmarked } from "./marker.ts";
import { isGone, isThereAlready, leadsOut, partial, partsOfKey } from "./object-key.ts";
import { followFile, readBackFile } from "./read-back.ts";
import type { ListedStorage } from "./storage.ts";
import { streamOf } from "./stream-of.ts";
import { createFile } from "./write-file.ts";
import { syncFolder } from "../sync-folder.ts";

type LocalOptions = {
  /** Absolute path of an existing folder: a missing one may be a disk that is not mounted. */
  path: string;
  /** Whether the folder must have a marker, without which its disk is away. */
  isMarked?: boolean;
};

export function createLocalStorage({ path: root, isMarked = false }: LocalOptions): ListedStorage {
  const disk = { place: root, account: "the account that runs the service" };
  const refuseAway = async () => {
    if (isMarked) await refuseUnmarked(root);
  };
  const diagnosed = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      await refuseAway();
      return await work();
    } catch (error) {
      throw diagnose(error, disk);
    }
  };

  /**
   * @returns the path of a key
   * @throws StorageError where it is outside of the storage
   */
  async function locate(key: string): Promise<string> {
    const parts = partsOfKey(key);
    const real = await realpath(root);
    let folder = real;
    for (const part of parts.slice(0, -1)) {
      folder = join(folder, part);
      const found = await realpath(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return folder;
        throw error;
      });
      if (!isInside(real, found)) throw leadsOut(folder, root);
    }
    return join(real, key);
  }

  return {
    place: root,

    put: (key, content, { signal, takeBack, release }) =>
      diagnosed(async () => {
        const path = await locate(key);
        if (await exists(path)) throw isThereAlready(path);
        // A partial file that a killed service left.
        await removeFile(partial(path));
        try {
          const file = await createIn(root, dirname(path), () => createFile(partial(path)));
          const follower = takeBack === undefined ? null : followFile(partial(path), takeBack);
          const keep = async (chunks: AsyncIterable<Buffer>) => {
            try {
              for await (const chunk of chunks) {
                await file.write(chunk);
                follower?.reached(file.writtenBytes());
                release?.(chunk);
              }
              await file.finish();
            } finally {
              await follower?.end();
              await file.close();
            }
          };
          await pipeline(content, keep, { signal });
          // After an abort the object must not appear.
          signal.throwIfAborted();
          await refuseAway();
          await rename(partial(path), path);
          await syncFolder(dirname(path));
          return (await stat(path)).size;
        } catch (error) {
          content.destroy();
          await removeFile(partial(path)).catch(() => undefined);
          throw error;
        }
      }),

    replace: (key, content, { signal }) =>
      diagnosed(async () => {
        const path = await locate(key);
        try {
          await createIn(root, dirname(path), () =>
            writeFile(partial(path), content, { mode: 0o600, flush: true }),
          );
          signal.throwIfAborted();
          await refuseAway();
          await rename(partial(path), path);
        } catch (error) {
          await removeFile(partial(path)).catch(() => undefined);
          throw error;
        }
        await syncFolder(dirname(path));
      }),

    readBack: (key, { signal, fromByte }) =>
      diagnosed(async () =>
        readBackFile(await locate(key), { signal, fromByte }, (error) => diagnose(error, disk)),
      ),

    get: (key, { signal }) =>
      diagnosed(async () => {
        const path = await locate(key);
        // Opened here, so that this call reports a missing file, and not the stream. Opening a pipe must not wait for its other
        // end.
        const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(
          (error: unknown) => {
            throw isMissing(error) ? isGone(path) : error;
          },
        );
        if (!(await file.stat()).isFile()) {
          await file.close();
          throw isGone(path);
        }
        return addAbortSignal(
          signal,
          streamOf(piecesOf(file), () => void file.close().catch(() => undefined)),
        );
      }),

    size: (key) =>
      diagnosed(async () => {
        const path = await locate(key);
        try {
          const found = await stat(path);
          // Reading a pipe or a device could wait forever.
          return found.isFile() ? found.size : null;
        } catch (error) {
          if (isMissing(error)) return null;
          throw error;
        }
      }),

    remove: (key) =>
      diagnosed(async () => {
        const path = await locate(key);
        await removeFile(path);
        await removeFile(partial(path));
        await removeEmpty(await realpath(root), dirname(path));
      }),

    async *list({ signal, prefix = "" }) {
      try {
        await refuseAway();
        for await (const found of listFolder(await realpath(root), "", signal))
          if (found.key.startsWith(prefix)) yield found;
      } catch (error) {
        throw diagnose(error, disk);
      }
    },

    freeBytes: () =>
      diagnosed(async () => {
        const { bavail, bsize } = await statfs(root);
        return bavail * bsize;
      }),
  };
}

/** Reads a file from its beginning. Reuses the memory of pieces that are given back. */
async function* piecesOf(file: FileHandle): AsyncGenerator<Buffer> {
  const memory = createPieceMemory();
  for (;;) {
    const piece = memory.take();
    const { bytesRead } = await file.read(piece, 0, piece.length, null);
    if (bytesRead === 0) return;
    yield piece.subarray(0, bytesRead);
  }
}

/** By `unlink` alone: `rm` says of a file that the kernel keeps, such as an immutable one, that it is no folder. */
const removeFile = (path: string): Promise<void> =>
  unlink(path).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false;
      throw error;
    },
  );

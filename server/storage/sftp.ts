// Stores backups in a folder of a login that has SFTP but no shell.
import { Readable } from "node:stream";
import { accessSftp, type SftpAccess } from "../ssh/sftp/access.ts";
import { filesOver, isFile, isStatus, type SftpFiles } from "../ssh/sftp/files.ts";
import { statuses } from "../ssh/sftp/packets.ts";
import type { SftpSession } from "../ssh/sftp/session.ts";
import { placeOf } from "../ssh/target.ts";
import { toError } from "../to-error.ts";
import { diagnoseLine } from "./disk-errors.ts";
import { isGone, isThereAlready, partial, partsOfKey } from "./object-key.ts";
import { describeSftpError } from "./sftp-diagnosis.ts";
import { createSftpFolders } from "./sftp-folders.ts";
import { StorageError, type ListedStorage } from "./storage.ts";
import { streamOf } from "./stream-of.ts";

type SftpOptions = SftpAccess & {
  /** Path of the folder as the login sees it. The folder must exist. */
  path: string;
};

/** `put` must report its failure within 10 s. `remove`, which is retried, deletes what is left then. */
const cleanUpMs = 4000;
/** Limit of a step that transfers no content. */
const stepMs = 60_000;
/** A disk with less free space counts as full. */
const fullBytes = 1024 * 1024;

type Work<Result> = (files: SftpFiles, session: SftpSession) => Promise<Result>;

export function createSftpStorage({ path, ...access }: SftpOptions): ListedStorage {
  const { target } = access;
  const root = path.replace(/(?<=.)\/+$/, "");
  const place = `${root} on ${placeOf(target)}`;
  const disk = { place, account: `${target.user} there` };
  const toWords = (error: unknown, session: SftpSession | null) =>
    describeSftpError(error, session, disk);
  const { below, enter, locate, inFolder, removeEmpty, listBelow } = createSftpFolders(root, disk);
  const inWords = (key: string) => `${below(key)} on ${placeOf(target)}`;

  async function open(signal: AbortSignal): Promise<SftpSession> {
    signal.throwIfAborted();
    try {
      return await accessSftp(access, signal);
    } catch (error) {
      throw toWords(error, null);
    }
  }

  async function within<Result>(signal: AbortSignal, work: Work<Result>): Promise<Result> {
    const session = await open(signal);
    try {
      return await work(filesOver(session), session);
    } catch (error) {
      throw toWords(error, session);
    } finally {
      session.close();
    }
  }

  const step = <Result>(work: Work<Result>): Promise<Result> =>
    within(AbortSignal.timeout(stepMs), work);

  const removeFile = (files: SftpFiles, file: string): Promise<void> =>
    files.remove(file).catch((error: unknown) => {
      if (!isStatus(error, statuses.noFile)) throw error;
    });

  /** Writes a file. SFTP has one status for all disk errors, so a full disk is recognized by its free space. */
  async function write(files: SftpFiles, file: string, content: Readable): Promise<void> {
    try {
      await files.write(file, content);
    } catch (error) {
      if (!isStatus(error, statuses.failure)) throw error;
      const free = await files.freeBytes(root).catch(() => null);
      if (free === null || free >= fullBytes) throw error;
      throw diagnoseLine("No space left on device", disk) ?? error;
    }
  }

  /** Cleans up after a failure. Its own failure is ignored, because the first one matters to the operator. */
  async function cleanUp(key: string, left: readonly string[]): Promise<void> {
    await within(AbortSignal.timeout(cleanUpMs), async (files) => {
      if ((await locate(files, key)) === null) return;
      for (const file of left) await removeFile(files, file);
      await removeEmpty(files, partsOfKey(key));
    }).catch(() => undefined);
  }

  async function sizeOf(files: SftpFiles, key: string): Promise<number | null> {
    const file = await locate(files, key);
    const found = file === null ? null : await files.stat(file);
    return found === null || !isFile(found) ? null : found.sizeBytes;
  }

  async function get(key: string, signal: AbortSignal): Promise<Readable> {
    const session = await open(signal);
    const files = filesOver(session);
    try {
      const size = await sizeOf(files, key);
      if (size === null) throw isGone(inWords(key));
      async function* content() {
        try {
          let bytes = 0;
          for await (const piece of files.read(below(key), size ?? 0)) {
            bytes += piece.length;
            yield piece;
          }
          if (bytes !== size)
            throw new StorageError(`${place} returned ${bytes} of ${size} bytes of a file.`);
        } catch (error) {
          throw toWords(error, session);
        }
      }
      return streamOf(content(), () => session.close());
    } catch (error) {
      session.close();
      throw toWords(error, session);
    }
  }

  return {
    place,

    async put(key, content, { signal }) {
      const [file, piece] = [below(key), partial(below(key))];
      let left: string[] = [];
      // The stream may fail before it is read.
      content.on("error", () => undefined);
      try {
        partsOfKey(key);
        return await within(signal, async (files, session) => {
          const stop = () => void content.destroy(toError(session.ended.reason));
          session.ended.addEventListener("abort", stop, { once: true });
          await inFolder(files, { key, content }, async () => {
            if ((await files.stat(file)) !== null) throw isThereAlready(inWords(key));
            left = [piece];
            await removeFile(files, piece);
            await write(files, piece, content);
          });
          // The caller no longer waits for an aborted upload, so its file must not appear later.
          signal.throwIfAborted();
          // From here on the object may exist although the server's response was lost.
          left = [piece, file];
          await files.rename(piece, file).catch(async (error: unknown) => {
            left = [piece];
            if ((await files.stat(file)) !== null) throw isThereAlready(inWords(key));
            throw error;
          });
          const stored = (await files.stat(file))?.sizeBytes ?? null;
          if (stored === null) throw isGone(inWords(key));
          session.ended.removeEventListener("abort", stop);
          return stored;
        });
      } catch (error) {
        content.destroy();
        if (left.length > 0) await cleanUp(key, left);
        signal.throwIfAborted();
        throw error;
      }
    },

    async replace(key, content, { signal }) {
      const [file, piece] = [below(key), partial(below(key))];
      try {
        await within(signal, async (files) => {
          const text = Readable.from([content]);
          await inFolder(files, { key, content: text }, () => write(files, piece, text));
          signal.throwIfAborted();
          if (await files.replace(piece, file)) return;
          // For a moment no file has the name; the new text then has its partial name.
          await removeFile(files, file);
          await files.rename(piece, file);
        });
      } catch (error) {
        if (error instanceof StorageError && (await isThere(key))) await cleanUp(key, [piece]);
        signal.throwIfAborted();
        throw error;
      }
    },

    // The server may read what was just written from its memory, so `isFromDisk` is false.
    readBack: async (key, { signal }) => ({
      kind: "read",
      isFromDisk: () => false,
      content: await get(key, signal),
    }),

    get: (key, { signal }) => get(key, signal),

    async *list({ signal, prefix = "" }) {
      const session = await open(signal);
      try {
        const files = filesOver(session);
        await enter(files);
        for await (const found of listBelow(files, []))
          if (found.key.startsWith(prefix)) yield found;
      } catch (error) {
        throw toWords(error, session);
      } finally {
        session.close();
      }
    },

    size: (key) => step((files) => sizeOf(files, key)),

    remove: async (key) => {
      const parts = partsOfKey(key);
      await step(async (files) => {
        if ((await locate(files, key)) === null) return;
        await removeFile(files, below(key));
        await removeFile(files, partial(below(key)));
        await removeEmpty(files, parts);
      });
    },

    freeBytes: () => step((files) => files.freeBytes(root)),
  };

  function isThere(key: string): Promise<boolean> {
    return step(async (files) => (await sizeOf(files, key)) !== null).catch(() => false);
  }
}

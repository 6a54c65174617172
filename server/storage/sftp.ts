// Copies in a folder of a login that has SFTP and no shell.
import { Readable } from "node:stream";
import { accessSftp, type SftpAccess } from "../ssh/sftp/access.ts";
import {
  filesOver,
  isFile,
  isFolder,
  isStatus,
  type Entry,
  type SftpFiles,
} from "../ssh/sftp/files.ts";
import { statuses } from "../ssh/sftp/packets.ts";
import type { SftpSession } from "../ssh/sftp/session.ts";
import { placeOf } from "../ssh/target.ts";
import { toError } from "../to-error.ts";
import { diagnoseLine } from "./disk-errors.ts";
import { isGone, isThereAlready, leadsOut, partial, partsOfKey } from "./object-key.ts";
import { describeSftpError } from "./sftp-diagnosis.ts";
import { StorageError, type ListedStorage, type StoredObject } from "./storage.ts";
import { streamOf } from "./stream-of.ts";

type SftpOptions = SftpAccess & {
  /** The folder as the login sees it; it has to be there. */
  path: string;
};

/** `put` tells its failure within 10 s; what is left then is removed by `remove`, which is asked for again. */
const cleanUpMs = 4000;
/** A question, or a step that moves no content. */
const stepMs = 60_000;
/** Of something in a folder that others remove meanwhile. */
const maxTries = 10;
/** A disk with less is full. */
const fullBytes = 1024 * 1024;

type Work<Result> = (files: SftpFiles, session: SftpSession) => Promise<Result>;

export function createSftpStorage({ path, ...access }: SftpOptions): ListedStorage {
  const { target } = access;
  const root = path.replace(/(?<=.)\/+$/, "");
  const place = `${root} on ${placeOf(target)}`;
  const disk = { place, account: `${target.user} there` };
  const toWords = (error: unknown, session: SftpSession | null) =>
    describeSftpError(error, session, disk);
  const below = (...parts: string[]) => [root === "/" ? "" : root, ...parts].join("/");
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

  /** Where the folder leads. @throws StorageError when it is none */
  async function enter(files: SftpFiles): Promise<string> {
    const found = await files.stat(root);
    if (found === null || !isFolder(found))
      throw (
        diagnoseLine(found === null ? "No such file or directory" : "Not a directory", disk) ??
        new StorageError(place)
      );
    return files.realpath(root);
  }

  /**
   * Goes down the folders above an object, never out of the storage.
   * @returns null where one is not there. @param isMade they are made
   */
  async function locate(files: SftpFiles, key: string, isMade = false): Promise<string | null> {
    const parts = partsOfKey(key);
    const real = await enter(files);
    for (let depth = 1; depth < parts.length; depth++) {
      const folder = below(...parts.slice(0, depth));
      if ((await files.stat(folder)) === null) {
        if (!isMade) return null;
        // Somebody else may have made it meanwhile.
        await files.mkdir(folder).catch(async (error: unknown) => {
          if ((await files.stat(folder)) === null) throw error;
        });
      }
      const leads = await files.realpath(folder);
      if (!`${leads}/`.startsWith(real === "/" ? "/" : `${real}/`)) throw leadsOut(folder, place);
    }
    return below(...parts);
  }

  /** Works in the folder of an object, which is made. Others remove it for as long as it is empty. */
  async function inFolder(
    files: SftpFiles,
    { key, content }: { key: string; content: Readable },
    work: () => Promise<void>,
  ): Promise<void> {
    for (let tries = 1; ; tries++)
      try {
        await locate(files, key, true);
        return await work();
      } catch (error) {
        const isRemoved = isStatus(error, statuses.noFile) && !content.readableDidRead;
        if (!isRemoved || tries === maxTries) throw error;
      }
  }

  const removeFile = (files: SftpFiles, file: string): Promise<void> =>
    files.remove(file).catch((error: unknown) => {
      if (!isStatus(error, statuses.noFile)) throw error;
    });

  /** Servers have one word for whatever a disk says. */
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

  async function removeEmpty(files: SftpFiles, parts: readonly string[]): Promise<void> {
    for (let above = parts.slice(0, -1); above.length > 0; above = above.slice(0, -1))
      try {
        await files.rmdir(below(...above));
      } catch {
        // It holds something else, or is gone.
        return;
      }
  }

  /** The failure before this one is what the operator is to hear of. */
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

  async function* listBelow(
    files: SftpFiles,
    parts: readonly string[],
  ): AsyncGenerator<StoredObject> {
    const entries: Entry[] = await Array.fromAsync(files.list(below(...parts))).catch(
      (error: unknown) => {
        // Removed meanwhile, unless it is the storage itself.
        if (parts.length > 0 && isStatus(error, statuses.noFile)) return [];
        throw error;
      },
    );
    for (const { name, attributes } of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
      if (isFolder(attributes)) yield* listBelow(files, [...parts, name]);
      else if (isFile(attributes))
        yield { key: [...parts, name].join("/"), sizeBytes: attributes.sizeBytes ?? 0 };
  }

  return {
    place,

    async put(key, content, { signal }) {
      const [file, piece] = [below(key), partial(below(key))];
      let left: string[] = [];
      // It may break off before anybody reads it.
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
          // Nobody waits any more for what was given up, and it must not appear later.
          signal.throwIfAborted();
          // From here on the server may have done it although its answer is lost.
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
          // For a moment nothing has the name; the new text is beside it then.
          await removeFile(files, file);
          await files.rename(piece, file);
        });
      } catch (error) {
        if (error instanceof StorageError && (await isThere(key))) await cleanUp(key, [piece]);
        signal.throwIfAborted();
        throw error;
      }
    },

    // What was written just now the server may have from memory.
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

// Stores backups in anything that rclone supports. Some services list a file while it is still being written, and when the
// service is killed, rclone takes the end of its input for a complete file. So files are uploaded under a partial name, and then
// moved.
import { Readable } from "node:stream";
import { z } from "zod/mini";
import { isGone, isThereAlready, partial, partsOfKey } from "./object-key.ts";
import {
  describeRcloneFailure,
  folderMissing,
  placeOfRemote,
  runRclone,
  type RcloneOptions,
} from "./rclone-command.ts";
import { cleanUpMs, sendToRclone } from "./rclone-send.ts";
import { parseListed, readListed } from "./rclone-list.ts";
import { FolderMissing, readFromRclone } from "./rclone-read.ts";
import { StorageError, type ListedStorage } from "./storage.ts";

const list = ["lsjson", "-R", "--files-only", "--no-modtime", "--no-mimetype"];

/** Capabilities of a remote, as rclone reports them. */
const featuresSchema = z.object({
  Features: z.object({
    Move: z.boolean(),
    Copy: z.boolean(),
    About: z.boolean(),
    CanHaveEmptyDirectories: z.boolean(),
    IsLocal: z._default(z.boolean(), false),
    SlowHash: z._default(z.boolean(), false),
  }),
});
type Features = z.infer<typeof featuresSchema>["Features"];

const aboutSchema = z.object({ free: z.optional(z.number()) });

/** Sizes by key; a missing object has no entry. */
type Sizes = ReadonlyMap<string, number>;

export function createRcloneStorage(options: RcloneOptions): ListedStorage {
  const { remote } = options;
  const place = placeOfRemote(remote);
  const root = /[:/]$/.test(remote) ? remote : `${remote}/`;
  let known: Promise<Features> | null = null;

  /** Returns an argument for rclone, which starts with the name of the remote, so that it is never parsed as an option. */
  const at = (key: string): string => `${root}${key}`;
  const inWords = (key: string) => `${key} in ${place}`;

  function checkKey(key: string): string[] {
    const parts = partsOfKey(key);
    if (/[\r\n]/.test(key))
      throw new StorageError(`“${key}” isn't a valid name for a stored file.`);
    return parts;
  }

  /** @throws StorageError when the command fails, or the signal's reason */
  async function perform(
    args: readonly string[],
    command: Parameters<typeof runRclone>[2] = {},
  ): Promise<string> {
    const end = await runRclone(options, args, command);
    if (end.exitCode !== 0) throw describeRcloneFailure(remote, end);
    return end.stdout;
  }

  /**
   * Runs a command that transfers no content, with a time limit.
   * @throws like `perform`
   */
  const ask = (
    args: readonly string[],
    { signal, input }: { signal?: AbortSignal | undefined; input?: Readable } = {},
  ): Promise<string> =>
    perform(args, {
      isStep: true,
      ...(signal !== undefined && { signal }),
      ...(input !== undefined && { input }),
    });

  async function askFeatures(): Promise<Features> {
    const parsed = featuresSchema.safeParse(JSON.parse(await ask(["backend", "features", at("")])));
    if (!parsed.success) throw new StorageError(`${place} can't be used: rclone is too old.`);
    const { Features: features } = parsed.data;
    if (!features.Move && !features.Copy)
      throw new StorageError(
        `${place} can't be used: rclone can neither rename nor copy files there, so a backup that is still being written would look like a finished one.`,
      );
    return features;
  }

  function features(): Promise<Features> {
    known ??= askFeatures().catch((error: unknown) => {
      known = null;
      throw error;
    });
    return known;
  }

  /** Returns the sizes of exactly these files, without listing their folders. */
  async function sizesOf(keys: readonly string[], signal?: AbortSignal): Promise<Sizes> {
    const output = await ask([...list, "--no-traverse", "--files-from-raw=-", at("")], {
      input: Readable.from([Buffer.from(`${keys.join("\n")}\n`)]),
      signal,
    });
    return new Map(parseListed(output).map(({ key, sizeBytes }) => [key, sizeBytes]));
  }

  /**
   * rclone also finds no files in a folder that does not exist, so this checks the folder.
   * @throws StorageError
   */
  async function refuseMissingRoot(): Promise<void> {
    const args = ["lsf", "--max-depth=1", at("")];
    const end = await runRclone(options, args, { isStep: true });
    if (end.exitCode === folderMissing) throw rootMissing(place);
    if (end.exitCode !== 0) throw describeRcloneFailure(remote, end);
  }

  const send = (key: string, content: Readable, signal: AbortSignal): Promise<void> =>
    sendToRclone(options, at(key), content, signal);

  async function removeFiles(keys: readonly string[], signal?: AbortSignal): Promise<void> {
    for (const key of (await sizesOf(keys, signal)).keys())
      try {
        await ask(["deletefile", at(key)], { signal });
      } catch (error) {
        // Another process may have removed it.
        if ((await sizesOf([key], signal)).size > 0) throw error;
      }
  }

  /** Errors are ignored, because the failure before is the one to report; `remove` deletes what is left. */
  async function cleanUp(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    await work(AbortSignal.timeout(cleanUpMs)).catch(() => undefined);
  }

  /** Moves the file within the service by renaming or server-side copying, so that readers find it complete. */
  const moveInto = (key: string, how: string, signal: AbortSignal) =>
    perform(["moveto", how, at(partial(key)), at(key)], { signal });

  async function get(key: string, signal: AbortSignal): Promise<Readable> {
    checkKey(key);
    // `cat` would print all files of a folder with that name, and may report nothing for a missing file, so the size is checked.
    const size = sizesOf([key], signal).then((sizes) => sizes.get(key) ?? null);
    const content = readFromRclone(options, ["cat", at(key)], { signal, size });
    try {
      if ((await size) === null) throw isGone(inWords(key));
      return content;
    } catch (error) {
      content.destroy();
      throw error;
    }
  }

  return {
    place,

    async put(key, content, { signal }) {
      let left: string[] = [];
      try {
        checkKey(key);
        const [sizes] = await Promise.all([sizesOf([key], signal), features()]);
        if (sizes.size > 0) throw isThereAlready(inWords(key));
        left = [partial(key)];
        await send(partial(key), content, signal);
        // From here on the file may exist although the response was lost.
        left = [partial(key), key];
        await moveInto(key, "--ignore-existing", signal);
        const after = await sizesOf([key, partial(key)], signal);
        if (after.has(partial(key))) {
          left = [partial(key)];
          throw isThereAlready(inWords(key));
        }
        const stored = after.get(key);
        if (stored === undefined)
          throw new StorageError(`${place} took ${key} and does not have it.`);
        return stored;
      } catch (error) {
        content.destroy();
        if (left.length > 0) await cleanUp((over) => removeFiles(left, over));
        signal.throwIfAborted();
        throw error;
      }
    },

    // To move a file over another, rclone deletes the old one first, so for a moment no file has the name. After a failure at
    // that point the new text stays under its partial name, and is moved once more.
    async replace(key, content, { signal }) {
      checkKey(key);
      signal.throwIfAborted();
      await features();
      try {
        await send(partial(key), Readable.from([content]), signal);
        await moveInto(key, "--ignore-times", signal);
      } catch (error) {
        await cleanUp(async (over) => {
          const sizes = await sizesOf([key, partial(key)], over);
          if (sizes.has(key)) await removeFiles([partial(key)], over);
          else if (sizes.get(partial(key)) === content.length)
            await moveInto(key, "--ignore-times", over);
        });
        signal.throwIfAborted();
        throw error;
      }
    },

    async readBack(key, { signal }) {
      const { IsLocal: isLocal, SlowHash: isFolder } = await features();
      return {
        kind: "read",
        isFromDisk: () => !isLocal && !isFolder,
        content: await get(key, signal),
      };
    },

    get: (key, { signal }) => get(key, signal),

    async *list({ signal, prefix = "" }) {
      const folder = prefix.slice(0, prefix.lastIndexOf("/") + 1);
      try {
        const output = readFromRclone(options, [...list, at(folder)], { signal });
        for await (const { key, sizeBytes } of readListed(output)) {
          const found = { key: `${folder}${key}`, sizeBytes };
          if (found.key.startsWith(prefix)) yield found;
        }
      } catch (error) {
        if (!(error instanceof FolderMissing)) throw error;
        if (folder === "") throw rootMissing(place);
      }
    },

    async size(key) {
      checkKey(key);
      const size = (await sizesOf([key])).get(key) ?? null;
      if (size === null) await refuseMissingRoot();
      return size;
    },

    async remove(key) {
      const parts = checkKey(key);
      await removeFiles([key, partial(key)]);
      if (!(await features()).CanHaveEmptyDirectories) return;
      for (let above = parts.slice(0, -1); above.length > 0; above = above.slice(0, -1)) {
        const args = ["rmdir", at(above.join("/"))];
        const { exitCode } = await runRclone(options, args, { isStep: true });
        // The folder is not empty, or does not exist.
        if (exitCode !== 0) return;
      }
    },

    async freeBytes() {
      if (!(await features()).About) return null;
      const args = ["about", "--json", at("")];
      const { exitCode, stdout } = await runRclone(options, args, { isStep: true });
      if (exitCode !== 0) return null;
      return aboutSchema.parse(JSON.parse(stdout)).free ?? null;
    },
  };
}

const rootMissing = (place: string): StorageError =>
  new StorageError(`${place} is not there. Create it, or correct the remote in the inventory.`);

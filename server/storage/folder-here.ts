// Copies in a folder of this machine. On a disk the service works in it itself. On a network mount commands do: one that hangs takes
// whoever has a file open on it along, and the service could neither read a file nor start a program any more.
import { createLocalStorage } from "./local.ts";
import type { mountWatch } from "./mount-watch.ts";
import type { RemoteFolder } from "./remote-folder.ts";
import { createRemoteStorage } from "./remote.ts";
import type { ListedStorage } from "./storage.ts";
import { streamOf } from "./stream-of.ts";

type Options = {
  /** Where it is, and what commands run on. */
  folder: RemoteFolder;
  watch: ReturnType<typeof mountWatch>;
  /** It has a marker file; without it, its disk is away. */
  isMarked: boolean;
};

export function createStorageHere({ folder, watch, isMarked }: Options): ListedStorage {
  const disk = createLocalStorage({ path: folder.root, isMarked });
  const mount = createRemoteStorage(folder, { isMarked });

  /** @param work its signal is aborted where the mount hangs */
  const perform = async <Result>(
    work: (
      storage: ListedStorage,
      within: <More extends { signal: AbortSignal }>(more: More) => More,
    ) => Promise<Result>,
  ): Promise<Result> =>
    (await watch.isMount())
      ? watch.whileResponding((givenUp) =>
          work(mount, (more) => ({ ...more, signal: AbortSignal.any([more.signal, givenUp]) })),
        )
      : work(disk, (more) => more);

  return {
    place: disk.place,
    put: (key, content, options) =>
      perform((storage, within) => storage.put(key, content, within(options))),
    replace: (key, content, options) =>
      perform((storage, within) => storage.replace(key, content, within(options))),
    readBack: (key, options) =>
      perform((storage, within) => storage.readBack(key, within(options))),
    size: (key) => perform((storage) => storage.size(key)),
    remove: (key) => perform((storage) => storage.remove(key)),
    freeBytes: () => perform((storage) => storage.freeBytes()),

    async get(key, options) {
      if (!(await watch.isMount())) return disk.get(key, options);
      const stored = await watch.whileResponding(() => mount.get(key, options));
      return streamOf(watch.each(stored), () => stored.destroy());
    },

    async *list(options) {
      if (await watch.isMount()) yield* watch.each(mount.list(options));
      else yield* disk.list(options);
    },
  };
}

// Copies in a folder of this machine. On a disk the service works in it itself. On a network mount commands do: one that hangs takes
// whoever has a file open on it along, and the service could neither read a file nor start a program any more.
import { createLocalStorage } from "./local.ts";
import type { MountWatch } from "./mount-watch.ts";
import type { RemoteFolder } from "./remote-folder.ts";
import { createRemoteStorage } from "./remote.ts";
import type { ListedStorage } from "./storage.ts";
import { createWatchedStorage } from "./watched.ts";

type Options = {
  /** Where it is, and what commands run on. */
  folder: RemoteFolder;
  watch: MountWatch;
  /** It has a marker file; without it, its disk is away. */
  isMarked: boolean;
};

export function createStorageHere({ folder, watch, isMarked }: Options): ListedStorage {
  const disk = createLocalStorage({ path: folder.root, isMarked });
  const mount = createWatchedStorage(createRemoteStorage(folder, { isMarked }), watch);
  /** @throws StorageError where it hangs */
  const chosen = async () => ((await watch.isMount()) ? mount : disk);
  return {
    place: disk.place,
    put: async (...args) => (await chosen()).put(...args),
    replace: async (...args) => (await chosen()).replace(...args),
    readBack: async (...args) => (await chosen()).readBack(...args),
    get: async (...args) => (await chosen()).get(...args),
    size: async (...args) => (await chosen()).size(...args),
    remove: async (...args) => (await chosen()).remove(...args),
    freeBytes: async () => (await chosen()).freeBytes(),
    async *list(...args) {
      yield* (await chosen()).list(...args);
    },
  };
}

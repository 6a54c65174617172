// Stores backups in a folder of this machine. On a disk, the service works in it; on a network mount, commands do, because a
// mount that hangs blocks every process with an open file on it.
import { createLocalStorage } from "./local.ts";
import type { MountWatch } from "./mount-watch.ts";
import type { RemoteFolder } from "./remote-folder.ts";
import { createRemoteStorage } from "./remote.ts";
import type { ListedStorage } from "./storage.ts";
import { createWatchedStorage } from "./watched.ts";

type Options = {
  /** The folder, and the host that runs commands. */
  folder: RemoteFolder;
  watch: MountWatch;
  /** Whether the folder has a marker file; if it has disappeared, the disk is not mounted. */
  isMarked: boolean;
};

export function createStorageHere({ folder, watch, isMarked }: Options): ListedStorage {
  const disk = createLocalStorage({ path: folder.root, isMarked });
  const mount = createWatchedStorage(createRemoteStorage(folder, { isMarked }), watch);
  /** @throws StorageError where the mount hangs */
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

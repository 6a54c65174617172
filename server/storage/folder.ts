// The folder of a local storage provider, on this machine or on a server over SSH.
import { createStorageHere } from "./folder-here.ts";
import { isMarked, mark } from "./marker.ts";
import { mountWatch, mountWatchThere } from "./mount-watch.ts";
import { isMarkedThere, markThere, placeOf, type RemoteFolder } from "./remote-folder.ts";
import { createRemoteStorage } from "./remote.ts";
import type { ListedStorage } from "./storage.ts";
import { createWatchedStorage } from "./watched.ts";

export type StorageFolder = {
  /** For messages. */
  place: string;
  /** Path of the folder on its machine. */
  root: string;
  /** Unique among the folders of all machines. */
  key: string;
  /** @param options `isMarked`: the folder has a marker file; if it has disappeared, the disk is not mounted */
  open(options: { isMarked: boolean }): ListedStorage;
  /** @throws file system errors other than that the file does not exist, or StorageError */
  isMarked(): Promise<boolean>;
  mark(): Promise<void>;
};

/** @param host of the service's own machine */
export function folderHere(root: string, host: RemoteFolder["host"]): StorageFolder {
  const folder = { host, server: null, root };
  const watch = mountWatch(root, host);
  return {
    place: root,
    root,
    key: root,
    open: (options) => createStorageHere({ folder, watch, ...options }),
    isMarked: async () =>
      (await watch.isMount()) ? watch.whileResponding(() => isMarkedThere(folder)) : isMarked(root),
    mark: async () =>
      (await watch.isMount()) ? watch.whileResponding(() => markThere(folder)) : mark(root),
  };
}

export const folderThere = (serverId: number, folder: RemoteFolder): StorageFolder => ({
  place: placeOf(folder),
  root: folder.root,
  key: `${serverId}:${folder.root}`,
  open: (options) =>
    createWatchedStorage(createRemoteStorage(folder, options), mountWatchThere(folder)),
  isMarked: () => isMarkedThere(folder),
  mark: () => markThere(folder),
});

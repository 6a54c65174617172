// The folder that a local storage provider names, on this machine or on a server over SSH.
import { createLocalStorage } from "./local.ts";
import { isMarked, mark } from "./marker.ts";
import { isMarkedThere, markThere, placeOf, type RemoteFolder } from "./remote-folder.ts";
import { createRemoteStorage } from "./remote.ts";
import type { ListedStorage } from "./storage.ts";

export type StorageFolder = {
  /** In words. */
  place: string;
  /** Its path where it is. */
  root: string;
  /** Tells it from every folder of every other machine. */
  key: string;
  /** @param options `isMarked`: without its marker file, its disk is away */
  open(options: { isMarked: boolean }): ListedStorage;
  /** @throws what the file system says beyond that nothing is there, or StorageError */
  isMarked(): Promise<boolean>;
  mark(): Promise<void>;
};

export const folderHere = (root: string): StorageFolder => ({
  place: root,
  root,
  key: root,
  open: (options) => createLocalStorage({ path: root, ...options }),
  isMarked: () => isMarked(root),
  mark: () => mark(root),
});

export const folderThere = (serverId: number, folder: RemoteFolder): StorageFolder => ({
  place: placeOf(folder),
  root: folder.root,
  key: `${serverId}:${folder.root}`,
  open: (options) => createRemoteStorage(folder, options),
  isMarked: () => isMarkedThere(folder),
  mark: () => markThere(folder),
});

// The marker: a file in a local storage's folder that distinguishes it from the empty mount point of a disk that is away.
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { StorageError } from "./storage.ts";
import { toError } from "../to-error.ts";

export const markerName = ".quarterdeck-storage";

export const markerText = `Quarterdeck keeps backups in this folder. Without this file it takes the folder for the mount point
of a disk that is away, and neither writes nor removes anything here.
`;

/** @throws the file system's error, other than that the file does not exist */
export async function isMarked(root: string): Promise<boolean> {
  try {
    await stat(join(root, markerName));
    return true;
  } catch (error) {
    const { code } = toError(error);
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw error;
  }
}

export const mark = (root: string): Promise<void> =>
  writeFile(join(root, markerName), markerText, { mode: 0o600, flush: true });

/** A storage's folder: its name for messages, and its path. */
type Folder = { place: string; root: string };

const away = ({ place, root }: Folder, reason: string) =>
  new StorageError(
    `${place} is away: ${reason}, so its disk is probably not mounted. Nothing was written or removed. Mount the disk; if the folder is meant to begin anew, create that file: touch ${join(root, markerName)}`,
  );

/** The marker is missing. */
export const markerMissing = (folder: Folder): StorageError =>
  away(folder, `the file ${markerName} that Quarterdeck left there is missing`);

/** No backup and no marker were found where backups should be. */
export const nothingOfOurs = (folder: Folder): StorageError =>
  away(folder, `none of the backups that were stored there is in it, nor the file ${markerName}`);

/** @throws StorageError where the marker is missing */
export async function refuseUnmarked(root: string): Promise<void> {
  // A missing root has its own error.
  await stat(root);
  if (!(await isMarked(root))) throw markerMissing({ place: root, root });
}

// A machine that is looked after: its folders now, its commands and streams as more rooms need them.

/** Why a folder cannot be used, in words that fit behind "The directory". */
export type FolderProblem = { problem: string };

export type Host = {
  /**
   * Finds a folder inside another, links followed.
   * @param root absolute path of the folder that must not be left
   * @param folder absolute, or relative to `root`
   * @returns its real absolute path
   */
  folderInside(root: string, folder: string): Promise<string | FolderProblem>;
  /** Memory of the machine in MB, null where it cannot be told. */
  memoryMb: number | null;
};

// Resolves a folder inside another, as the account that will work there.
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import type { FolderProblem } from "./host.ts";
import { defineTask } from "./task.ts";

type Wanted = { root: string; folder: string };

export const findFolderInside = defineTask(
  import.meta.url,
  "findFolderInside",
  async ({ root, folder }: Wanted): Promise<string | FolderProblem> => {
    let real: string;
    let realRoot: string;
    try {
      realRoot = await realpath(root);
    } catch {
      return { problem: `cannot be checked, because the site's folder ${root} is not there` };
    }
    const wanted = resolve(realRoot, folder);
    // Checked before the disk is read, so that nothing about folders outside is disclosed.
    if (!isInside(realRoot, wanted) && !isInside(resolve(root), wanted))
      return { problem: "must lie inside the site's folder" };
    try {
      real = await realpath(wanted);
      if (!(await stat(real)).isDirectory()) return { problem: "must be a folder" };
    } catch {
      return { problem: "is not there" };
    }
    return isInside(realRoot, real) ? real : { problem: "must lie inside the site's folder" };
  },
);

/** Whether `path` is `root` or lies below it; both absolute, links followed. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

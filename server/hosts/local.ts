// The machine that the service itself runs on.
import { realpath, stat } from "node:fs/promises";
import { totalmem } from "node:os";
import { isAbsolute, relative, resolve, sep } from "node:path";
import type { Host } from "./host.ts";
import { createRunner } from "./run.ts";

const bytesPerMb = 1024 * 1024;

/** @param environment what its commands see, see `createRunner` */
export const createLocalHost = (environment: Record<string, string>): Host => ({
  run: createRunner(environment),
  memoryMb: Math.floor(totalmem() / bytesPerMb),

  async folderInside(root, folder) {
    let real: string;
    let realRoot: string;
    try {
      realRoot = await realpath(root);
    } catch {
      return { problem: `cannot be checked, because the site's folder ${root} is not there` };
    }
    const wanted = resolve(realRoot, folder);
    // Told before the disk is asked: what lies outside is not to be found out about.
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
});

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

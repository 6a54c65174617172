// Where a path leads, whether something is there or not.
import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

const linkLimit = 40;

/** Like `realpath`, but also where the last part is not there (yet). */
export async function followLinks(from: string): Promise<string> {
  let path = resolve(from);
  for (let links = 0; links < linkLimit; links += 1) {
    const parent = await realpath(dirname(path)).catch(() => dirname(path));
    path = join(parent, basename(path));
    const target = await readlink(path).catch(() => null);
    if (target === null) return path;
    path = resolve(parent, target);
  }
  return path;
}

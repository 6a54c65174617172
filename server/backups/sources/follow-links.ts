// Resolves symbolic links of a path that may not exist.
import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

const linkLimit = 40;

/** Like `realpath`, but the last part need not exist. */
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

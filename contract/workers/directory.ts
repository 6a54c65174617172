// Whether a worker's directory lies in its site's folder, as far as its text says; where links lead only the disk knows.

/** The parts of a path with "." and ".." carried out. */
function walk(path: string): string[] {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts;
}

/**
 * @param root absolute path of the site's folder
 * @param directory absolute, or from the root on
 */
export function leavesRoot(root: string, directory: string): boolean {
  const path = walk(directory.startsWith("/") ? directory : `${root}/${directory}`);
  return walk(root).some((part, index) => part !== path[index]);
}

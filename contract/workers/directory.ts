// Whether a worker's directory lies in its site's folder, by text alone; only the service can resolve symbolic links.

/** Splits a path, resolving "." and "..". */
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
 * @param directory absolute, or relative to the root
 */
export function leavesRoot(root: string, directory: string): boolean {
  const path = walk(directory.startsWith("/") ? directory : `${root}/${directory}`);
  return walk(root).some((part, index) => part !== path[index]);
}

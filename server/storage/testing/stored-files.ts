// Lists and copies the files in a storage's folder, for tests of backups.
import { cp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { markerName } from "../marker.ts";
import { partial } from "../object-key.ts";

/**
 * Returns sorted paths of the stored files. A manifest beside its file is left out, and so are the marker and the recovery page.
 */
export async function storedFilesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    // The recovery page has two names while it is replaced.
    .filter((name) => ![markerName, "RECOVERY.md", "RECOVERY.md.partial"].includes(name))
    .sort();
  const all = new Set(names);
  return names.filter(
    (name) => !name.endsWith(".json") || !all.has(name.slice(0, -".json".length)),
  );
}

/** Copies a storage whose service is running. Leaves out partial files, such as the next recovery page. */
export const copyStorage = (from: string, to: string): Promise<void> =>
  cp(from, to, { recursive: true, filter: (path) => !path.endsWith(partial("")) });

// What lies in a storage's folder, as tests of backups count and copy it.
import { cp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { markerName } from "../marker.ts";
import { partial } from "../object-key.ts";

/**
 * Paths of the stored files, and of all that belongs to none of them, in order. A manifest whose file is there counts with it,
 * and neither the marker nor the recovery page is anybody's backup.
 */
export async function storedFilesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    // One that is being replaced has two names for a moment.
    .filter((name) => ![markerName, "RECOVERY.md", "RECOVERY.md.partial"].includes(name))
    .sort();
  const all = new Set(names);
  return names.filter(
    (name) => !name.endsWith(".json") || !all.has(name.slice(0, -".json".length)),
  );
}

/** Copies a storage whose service is running: what it is writing at that moment, such as the next recovery page, is left out. */
export const copyStorage = (from: string, to: string): Promise<void> =>
  cp(from, to, { recursive: true, filter: (path) => !path.endsWith(partial("")) });

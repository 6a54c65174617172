// Counts what an archive leaves on the disk, from its entries: an archive of another program may have a file twice, of which the last
// one stays, and may lack the folders of its files.
import type { ArchiveEntry } from "./archive.ts";

/** Counts the entries that must exist after an extraction; bytes as in the summary of an archive. */
export function createExtractedCounts() {
  /** By path, one character per byte. Hard links share one content. */
  const found = new Map<string, { bytes: number }>();
  return {
    add({ path, type, bytes, target }: ArchiveEntry): void {
      const name = plain(path);
      if (name === "") return;
      for (let at = name.lastIndexOf("/"); at !== -1; at = name.lastIndexOf("/", at - 1)) {
        const above = name.slice(0, at);
        if (found.has(above)) break;
        found.set(above, { bytes: 0 });
      }
      found.set(name, (type === "1" ? found.get(plain(target)) : undefined) ?? { bytes });
    },
    counts(): { entries: number; bytes: number } {
      let bytes = 0;
      for (const content of new Set(found.values())) bytes += content.bytes;
      // Including the folder itself.
      return { entries: found.size + 1, bytes };
    },
  };
}

const plain = (path: string): string =>
  path
    .split("/")
    .filter((step) => step !== "" && step !== ".")
    .join("/");

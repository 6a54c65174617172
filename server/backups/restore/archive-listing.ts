// Lists the content of archives of folders: each is read once, and kept in memory for a while for further requests.
import { randomUUID } from "node:crypto";
import { finished } from "node:stream/promises";
import type { Readable } from "node:stream";
import type { BrowseArchiveBody } from "../../../contract/backups/bodies.ts";
import type { ArchiveFiles } from "../../../contract/backups/contents.ts";
import { toTimestamp } from "../../../contract/values.ts";
import type { Clock } from "../../clock.ts";
import { toError } from "../../to-error.ts";
import { createKeptListings } from "./kept-listings.ts";
import { createArchiveInspector, type ArchiveEntry } from "../sources/folder/archive.ts";
import { SourceError } from "../sources/source.ts";

/** More entries than a site has; each takes some 300 bytes of memory. */
const maxEntries = 300_000;
/** How long a request waits for the archive before it returns what was read so far. */
const patienceMs = 5000;
const readLimitMs = 30 * 60_000;
const pageEntries = 200;

type Kept = {
  id: string;
  backupId: number;
  entries: ArchiveEntry[];
  state: "reading" | "ready" | "failed";
  isComplete: boolean;
  problem: unknown;
  reading: Promise<void>;
  ending: AbortController;
};

const kinds: Record<string, ArchiveFiles["files"][number]["kind"]> = {
  "0": "file",
  "1": "file",
  "2": "link",
  "5": "folder",
};

/** Decodes a path for JSON. Bytes that are not UTF-8 become replacement characters; such a file cannot be restored by itself. */
const decode = (bytes: string): string => Buffer.from(bytes, "latin1").toString();

/** Normalizes a path: `./a/b/` to `a/b`; `.env` stays; the folder itself is the empty path. */
const plain = (path: string): string => path.replace(/^\.(?:\/|$)/, "").replace(/\/$/, "");

export function createArchiveListings(clock: Clock) {
  const listings = createKeptListings<Kept>(clock, ({ ending }) => ending.abort());

  async function read(kept: Kept, open: (signal: AbortSignal) => Promise<Readable>): Promise<void> {
    const signal = AbortSignal.any([kept.ending.signal, AbortSignal.timeout(readLimitMs)]);
    try {
      const inspector = createArchiveInspector((entry) => {
        if (kept.entries.length < maxEntries)
          kept.entries.push({ ...entry, path: plain(entry.path) });
        else kept.isComplete = false;
      });
      const archive = await open(signal);
      archive.on("data", (piece: Buffer) => inspector.inspect(piece));
      await finished(archive, { signal });
      if (!inspector.summary().isWhole) throw new SourceError("The archive is cut off or damaged.");
      kept.state = "ready";
    } catch (error) {
      kept.state = "failed";
      kept.problem = error;
    }
  }

  return {
    /** Returns a listing that can be reused, or null. @param id of an earlier response; absent = any listing of the backup */
    find(backupId: number, id: string | undefined): Kept | null {
      const found = listings.find(backupId, id);
      return found?.state === "failed" ? null : found;
    },

    begin(backupId: number, open: (signal: AbortSignal) => Promise<Readable>): Kept {
      const kept: Kept = {
        id: randomUUID(),
        backupId,
        entries: [],
        state: "reading",
        isComplete: true,
        problem: null,
        reading: Promise.resolve(),
        ending: new AbortController(),
      };
      kept.reading = read(kept, open);
      return listings.add(kept);
    },

    /** @throws the error with which reading the archive failed */
    async look(kept: Kept, wanted: BrowseArchiveBody): Promise<ArchiveFiles> {
      const patience = Promise.withResolvers<void>();
      const stop = clock.after(patienceMs, patience.resolve);
      await Promise.race([kept.reading, patience.promise]);
      stop();
      if (kept.state === "failed") throw toError(kept.problem);
      const { search = "", page = 1 } = wanted;
      const folder = (wanted.folder ?? "").replace(/\/+$/, "");
      const found = search === "" ? childrenOf(kept, folder) : matchesOf(kept, folder, search);
      const from = (page - 1) * pageEntries;
      return {
        listing: kept.id,
        state: kept.state,
        entries: kept.entries.length,
        is_complete: kept.isComplete,
        has_folder: hasFolder(kept, folder),
        total: found.length,
        per_page: pageEntries,
        files: found.slice(from, from + pageEntries),
      };
    },

    close: listings.close,
  };
}

export type ArchiveListings = ReturnType<typeof createArchiveListings>;

type File = ArchiveFiles["files"][number];

const toFile = ({ path, type, bytes, modified, target }: ArchiveEntry, name: string): File => ({
  path: decode(path),
  name,
  kind: kinds[type] ?? "other",
  bytes,
  modified_at: Number.isFinite(modified) ? toTimestamp(new Date(modified * 1000)) : null,
  target: type === "2" ? decode(target) : null,
});

const order: Record<File["kind"], number> = { folder: 0, file: 1, link: 1, other: 1 };
const byName = (one: File, other: File): number =>
  order[one.kind] - order[other.kind] || (one.name < other.name ? -1 : 1);

const insideOf = (folder: string): string =>
  folder === "" ? "" : `${Buffer.from(folder).toString("latin1")}/`;

/** Whether the archive has a folder: an empty one has an entry of its own, another one may only have entries in it. */
function hasFolder({ entries }: Kept, folder: string): boolean {
  const inside = insideOf(folder);
  return (
    folder === "" ||
    entries.some(
      ({ path, type }) => path.startsWith(inside) || (type === "5" && `${path}/` === inside),
    )
  );
}

/** Lists the direct children of a folder; a subfolder has the total bytes of its content. */
function childrenOf({ entries }: Kept, folder: string): File[] {
  const inside = insideOf(folder);
  const found = new Map<string, File>();
  for (const entry of entries) {
    if (entry.path === "" || !entry.path.startsWith(inside)) continue;
    const rest = entry.path.slice(inside.length);
    const [name = ""] = rest.split("/", 1);
    const known = found.get(name);
    if (name === rest) {
      const own = toFile(entry, decode(name));
      found.set(name, known === undefined ? own : { ...own, bytes: known.bytes + own.bytes });
    } else if (known === undefined) {
      const above = {
        path: inside + name,
        type: "5",
        bytes: entry.bytes,
        modified: NaN,
        target: "",
      };
      found.set(name, toFile(above, decode(name)));
    } else known.bytes += entry.bytes;
  }
  return [...found.values()].sort(byName);
}

/** Lists entries whose path below a folder contains the search text. */
function matchesOf({ entries }: Kept, folder: string, search: string): File[] {
  const inside = insideOf(folder);
  const wanted = search.toLowerCase();
  return entries
    .filter(({ path }) => path !== "" && path.startsWith(inside))
    .map((entry) => toFile(entry, decode(entry.path.slice(inside.length))))
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

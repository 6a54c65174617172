// Finds where a folder is mounted: here, and in the mount namespaces of other processes, such as containers.
import { readFileSync } from "node:fs";
import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";

type Mount = {
  /** Major and minor number of the file system. */
  device: string;
  /** The mounted part of the file system, as a path in it. */
  origin: string;
  /** The mount point. */
  point: string;
  /** Type of the file system, such as `ext4`. */
  type: string;
};

type Holding = {
  /** Whether the folder itself is mounted somewhere, which would not see another folder under the same name. */
  isHeld: boolean;
  /** Paths here of what is mounted elsewhere from inside the folder. */
  inside: string[];
};

/**
 * @param folder its real path
 * @returns the mounts that this process may see; only root sees those of other users' containers. Empty on systems other than
 * Linux.
 */
export async function findHolding(folder: string): Promise<Holding> {
  const own = await readMounts("self");
  const below = (path: string, top: string) => top === "/" || path.startsWith(`${top}/`);
  const of = own
    .filter(({ point }) => point === folder || below(folder, point))
    .reduce<Mount | null>(
      (best, one) => (best === null || one.point.length >= best.point.length ? one : best),
      null,
    );
  if (of === null) return { isHeld: false, inside: [] };
  const way = folder.slice(of.point === "/" ? 0 : of.point.length);
  const origin = way === "" ? of.origin : join(of.origin, way);
  const found = (await readOtherNamespaces()).filter(({ device }) => device === of.device);
  return {
    isHeld: of.point === folder || found.some((one) => one.origin === origin),
    inside: [
      ...new Set(
        found
          .filter((one) => below(one.origin, origin))
          .map((one) => `${folder}${one.origin.slice(origin === "/" ? 0 : origin.length)}`),
      ),
    ],
  };
}

/** Returns the mounts of all other mount namespaces, each namespace once. */
async function readOtherNamespaces(): Promise<Mount[]> {
  const namespaceOf = (process: string) => readlink(`/proc/${process}/ns/mnt`).catch(() => null);
  const seen = new Set([await namespaceOf("self")]);
  const mounts: Mount[] = [];
  for (const name of await readdir("/proc").catch(() => [])) {
    if (!/^\d+$/.test(name)) continue;
    const namespace = await namespaceOf(name);
    if (namespace === null || seen.has(namespace)) continue;
    seen.add(namespace);
    mounts.push(...(await readMounts(name)));
  }
  return mounts;
}

const readMounts = async (process: string): Promise<Mount[]> =>
  parseMounts(await readFile(`/proc/${process}/mountinfo`, "latin1").catch(() => ""));

/**
 * Parses the format of proc_pid_mountinfo(5).
 * @param table one character per byte
 */
function parseMounts(table: string): Mount[] {
  return table
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const fields = line.split(" ");
      const [, , device = "", origin = "", point = ""] = fields;
      // The type follows a separator, because the number of fields before it varies.
      const type = fields[fields.indexOf("-", 6) + 1] ?? "";
      return { device, origin: toPath(origin), point: toPath(point), type };
    });
}

/** Returns the mounts that hold a folder. Of two mounts at the same point the second one hides the first, but both count. */
function mountsOf(mounts: readonly Mount[], folder: string): Mount[] {
  const holding = mounts.filter(
    ({ point }) => point === "/" || point === folder || folder.startsWith(`${point}/`),
  );
  const nearest = Math.max(...holding.map(({ point }) => point.length));
  return holding.filter(({ point }) => point.length === nearest);
}

/** Local file systems, which do not wait for a network or another program. */
const disks = new Set(
  "ext2 ext3 ext4 xfs btrfs bcachefs f2fs zfs jfs reiserfs vfat exfat ntfs3 apfs tmpfs ramfs overlay squashfs".split(
    " ",
  ),
);

/**
 * Whether an operation in the folder may hang without end, so that not even a signal ends it: the folder is on a network mount or
 * on a file system of a program (FUSE). Reads only the mount table, and does not follow links.
 */
export function mayHang(folder: string): boolean {
  let table: string;
  try {
    table = readFileSync("/proc/self/mountinfo", "latin1");
  } catch {
    return false;
  }
  return mountsOf(parseMounts(table), folder).some(({ type }) => !disks.has(type));
}

/**
 * @param table content of /proc/self/mountinfo, one character per byte
 * @param folder its real path
 * @returns the types of all file systems that hold the folder or something in it, according to the table
 */
export function fileSystemsOf(table: string, folder: string): Set<string> {
  const mounts = parseMounts(table);
  const own = mountsOf(mounts, folder);
  const inside = mounts.filter(({ point }) => point.startsWith(`${folder}/`));
  return new Set([...own, ...inside].map(({ type }) => type));
}

const toPath = (text: string): string =>
  Buffer.from(
    text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 8)),
    ),
    "latin1",
  ).toString();

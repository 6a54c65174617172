// Where a folder is mounted: here, and in the mount namespaces of other processes, such as containers.
import { readFileSync } from "node:fs";
import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";

type Mount = {
  /** Major and minor number of the file system. */
  device: string;
  /** What of the file system is mounted, as a path in it. */
  origin: string;
  /** Where. */
  point: string;
  /** Of the file system, e.g. `ext4`. */
  type: string;
};

type Holding = {
  /** The folder itself is mounted somewhere: another folder under its name would not be seen there. */
  isHeld: boolean;
  /** What is mounted elsewhere from inside it, as paths here. */
  inside: string[];
};

/**
 * @param folder its real path
 * @returns what this process may see; containers of other users only root can look into. Other than on Linux nothing is seen.
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

/** Mounts that this process does not have, each namespace once. */
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

/** See proc_pid_mountinfo(5). @param table one character a byte */
function parseMounts(table: string): Mount[] {
  return table
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const fields = line.split(" ");
      const [, , device = "", origin = "", point = ""] = fields;
      // After a mark, since there is any number of fields before it.
      const type = fields[fields.indexOf("-", 6) + 1] ?? "";
      return { device, origin: toPath(origin), point: toPath(point), type };
    });
}

/** What is mounted twice in one place is hidden by the second one; both count. */
function mountsOf(mounts: readonly Mount[], folder: string): Mount[] {
  const holding = mounts.filter(
    ({ point }) => point === "/" || point === folder || folder.startsWith(`${point}/`),
  );
  const nearest = Math.max(...holding.map(({ point }) => point.length));
  return holding.filter(({ point }) => point.length === nearest);
}

/** Disks and memory of the machine: their kernel responds by itself. */
const disks = new Set(
  "ext2 ext3 ext4 xfs btrfs bcachefs f2fs zfs jfs reiserfs vfat exfat ntfs3 apfs tmpfs ramfs overlay squashfs".split(
    " ",
  ),
);

/**
 * Whether whoever works in a folder may wait without end, and can't be ended: it is on a network mount, or on one of a program's. Nobody
 * is asked, and links are not followed.
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
 * @param table as /proc/self/mountinfo has it, one character a byte
 * @param folder its real path
 * @returns the types of all file systems that hold the folder or something in it, as far as the table tells
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

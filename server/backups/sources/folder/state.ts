// What decides what an archive of a folder holds, told by the times of its entries: the same commands here and on a remote machine.
import { createHash } from "node:crypto";
import type { Host } from "../../../hosts/host.ts";
import { pipelineEnds, pipelineOf } from "../../../hosts/shell-pipeline.ts";
import type { Excludes } from "../source.ts";
import { findArguments, oneOf } from "./excludes.ts";
import { fileSystemsOf } from "../../../hosts/mounts.ts";
import { findCaches } from "./remote/carry.ts";
import { findRealRoot } from "./remote/place.ts";
import { createArguments, tarEnvironment } from "./tar.ts";
import { logEnds } from "../sqlite/header.ts";

/** When the times of files are taken at their word. */
export type TrustedTimes = {
  /** Types of file systems, as mountinfo has them. */
  fileSystems: ReadonlySet<string>;
  /** For so long nothing may have changed. */
  settledSeconds: number;
};

/**
 * Disks of the machine whose kernel sets the time of change itself, whatever a program asks for, also on writes through a memory
 * map. Others have it from another machine or a program, and tmpfs doesn't notice each write through a map.
 *
 * Such a write is noticed when its page was clean before, and a page is dirty for half a minute at most (vm.dirty_expire_centisecs
 * and vm.dirty_writeback_centisecs). A time of change that is older has no unnoticed writes behind it.
 */
export const trustedTimes: TrustedTimes = {
  fileSystems: new Set(["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "overlay"]),
  settledSeconds: 60,
};

/** Raised when an archive of the same entries, by the same arguments of tar, would hold something else. */
const archiveVersion = 1;

/**
 * All that tar writes of an entry but its content, and what changes with each change of that. No program can set `%C`. A number
 * cannot hold the NUL that ends a name.
 */
const described = ["-printf", "%P\\0%y %m %U %G %s %D:%i %T@ %C@ %l\\0"];
/** Of a folder whose times change with what is left out of it: what is kept there is named anyway. */
const describedWithoutTimes = ["-printf", "%P\\0%y %m %U %G %D:%i\\0"];
/** A database is copied with what its log holds, also where that is left out. */
const isLog = [
  "-type",
  "f",
  "(",
  ...logEnds.flatMap((end, at) => [...(at === 0 ? [] : ["-o"]), "-name", `*${end}`]),
  ")",
];
/** In more of them times count: they are arguments of a command. */
const maxPartFolders = 32;

/** Has find end with an error at the first entry that was changed just now, or in the future. */
const untilUnsettled = (seconds: number) =>
  ["-cmin", `-${seconds / 60}`, "-exec", "false", "{}", "+", "-quit", "-o"] as const;

/**
 * `$1` is the folder as it is configured, which may be a link. Times of change mean little to a machine that was started since: its
 * clock may have begun anew, and its disk may have lost what was written last.
 */
const look = `{ [ ! -L "$1" ] || stat -c '%d:%i %z' -- "$1"; cat /proc/sys/kernel/random/boot_id; } 2>/dev/null || exit 1
command -v sqlite3; printf '\\0'; cat /proc/self/mountinfo 2>/dev/null; printf '\\0'; shift; "$@"`;

type Folder = {
  /** As the site's account sees it. */
  host: Host;
  /** As it is configured. */
  root: string;
  /** Where it really is, if that was asked just before. */
  real?: string | undefined;
  excludes: Excludes | null;
  times: TrustedTimes;
};

/** @returns paths of the folders that are backed up in part; those whose name is no text are not among them */
async function findPartFolders(
  { host, excludes }: Folder,
  real: string,
  caches: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  if (excludes === null) return [];
  const listing = findArguments(real, excludes, caches, "excluded", ["-printf", "%h\\0"]);
  const sorted = ["sort", "-z", "-u"] as const;
  const argv = pipelineOf(listing, sorted, ["head", "-z", "-n", `${maxPartFolders}`]);
  const { stdout } = await host.run({ argv, environment: tarEnvironment, signal });
  return stdout.split("\0").filter((path) => path !== "" && !path.includes("\uFFFD"));
}

/**
 * @returns null where the times tell nothing: something has changed just now, cannot be read, or is on a file system whose times
 * are not to be trusted
 */
export async function stateOfFolder(folder: Folder, signal: AbortSignal): Promise<string | null> {
  const { host, root, real: known, excludes, times } = folder;
  const real = known ?? (await findRealRoot(host, root, signal));
  const caches = await findCaches(host, real, excludes, signal);
  const parts = oneOf(await findPartFolders(folder, real, caches, signal));
  const unlessUnsettled = [...untilUnsettled(times.settledSeconds), ...described];
  const action = [
    "(",
    ...(parts.length === 0
      ? []
      : ["-type", "d", "(", ...parts, ")", ...describedWithoutTimes, "-o"]),
    ...unlessUnsettled,
    ")",
  ];
  const ofLogs = ["(", ...isLog, "(", ...unlessUnsettled, ")", "-o", "-true", ")"];
  const listing = findArguments(real, excludes, caches, "kept", action, ofLogs);
  const { exitCode, stdout, stderr } = await host.run({
    argv: ["sh", "-c", look, "sh", root, ...pipelineOf(listing, ["sha256sum"])],
    environment: tarEnvironment,
    signal,
  });
  const isWhole = exitCode === 0 && pipelineEnds(stderr)?.every((code) => code === 0) === true;
  const [machine = "", mounts = "", entries = ""] = stdout.split("\0");
  const digest = /^[0-9a-f]{64}/.exec(entries)?.[0];
  if (!isWhole || digest === undefined) return null;
  const found = fileSystemsOf(Buffer.from(mounts).toString("latin1"), real);
  if (found.size === 0 || !found.isSubsetOf(times.fileSystems)) return null;
  const archive = [archiveVersion, createArguments(real), host.account.uid, excludes];
  return createHash("sha256")
    .update(JSON.stringify([...archive, machine, digest]))
    .digest("hex");
}

// Computes the state of a folder from the times of its entries, which changes whenever an archive of it would. Uses the same commands
// here and on a remote machine.
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

/** Conditions under which the times of files are trusted. */
export type TrustedTimes = {
  /** Types of file systems, as in mountinfo. */
  fileSystems: ReadonlySet<string>;
  /** How long nothing may have changed. */
  settledSeconds: number;
};

/**
 * File systems of local disks, for which the kernel itself sets the change time, also on writes through a memory map. Other file
 * systems get it from another machine or a program, and tmpfs misses some writes through a map.
 *
 * Such a write sets the change time only if its page was clean before, and a page is dirty for half a minute at most
 * (vm.dirty_expire_centisecs and vm.dirty_writeback_centisecs). After an older change time there were no unnoticed writes.
 */
export const trustedTimes: TrustedTimes = {
  fileSystems: new Set(["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "overlay"]),
  settledSeconds: 60,
};

/** To be raised when an archive of the same entries, by the same arguments of tar, would have other content. */
const archiveVersion = 1;

/**
 * Everything that tar writes of an entry except its content, and what changes with each change of that. No program can set `%C`. The
 * NUL ends the name unambiguously.
 */
const described = ["-printf", "%P\\0%y %m %U %G %s %D:%i %T@ %C@ %l\\0"];
/** For a folder with excluded entries, which change its times. Entries that are kept are listed anyway. */
const describedWithoutTimes = ["-printf", "%P\\0%y %m %U %G %D:%i\\0"];
/** A log counts even where it is excluded, because a database is copied with the content of its log. */
const isLog = [
  "-type",
  "f",
  "(",
  ...logEnds.flatMap((end, at) => [...(at === 0 ? [] : ["-o"]), "-name", `*${end}`]),
  ")",
];
/** Most folders without times, because each is an argument of a command. The times of further ones count. */
const maxPartFolders = 32;

/** Makes find fail at the first entry that was changed just now, or in the future. */
const untilUnsettled = (seconds: number) =>
  ["-cmin", `-${seconds / 60}`, "-exec", "false", "{}", "+", "-quit", "-o"] as const;

/**
 * Shell script: `$1` is the folder as configured, which may be a link. The boot id is part of the state, because change times from
 * before a restart mean little: the clock may have been reset, and the last writes may be lost.
 */
const look = `{ [ ! -L "$1" ] || stat -c '%d:%i %z' -- "$1"; cat /proc/sys/kernel/random/boot_id; } 2>/dev/null || exit 1
command -v sqlite3; printf '\\0'; cat /proc/self/mountinfo 2>/dev/null; printf '\\0'; shift; "$@"`;

type Folder = {
  /** As the site's account sees it. */
  host: Host;
  /** Path as configured. */
  root: string;
  /** Real path, if it was resolved just before. */
  real?: string | undefined;
  excludes: Excludes | null;
  times: TrustedTimes;
};

/** @returns paths of the folders with excluded entries, except those whose name is not UTF-8 */
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
 * @returns null where the times are not conclusive: something has just changed, cannot be read, or is on a file system whose times
 *   are not trusted
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

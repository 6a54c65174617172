// Checks the machine: Node, free disk space, the clock.
import { access, constants, stat, statfs } from "node:fs/promises";
import type { Diagnosis } from "../../contract/doctor.ts";
import { durationInWords, sizeInWords } from "../backups/formatting.ts";
import type { LocalHost } from "../hosts/host.ts";
import { toError } from "../to-error.ts";
import { failed, ok, warning } from "./finding.ts";

const lowBytes = 1024 ** 3;
/** Less than PostgreSQL needs to continue after a burst of changes. */
const tooLowBytes = 256 * 1024 ** 2;

/** Two clocks that NTP synchronizes differ by less. */
const offMs = 2000;
/** From here on tokens, schedules and webhook signatures may be wrong; Standard Webhooks allows 5 min. */
const wrongMs = 60_000;

/** The same as in `node-version.cjs`, which an older Node can run to report that. */
const oldestNode = 24;

/** @param version process.version */
export function checkNode(version: string): Diagnosis {
  return Number.parseInt(version.slice(1), 10) < oldestNode
    ? failed(
        "Node",
        `${version} is too old.`,
        `Install Node ${oldestNode} or newer from https://nodejs.org.`,
      )
    : ok("Node", `${version} is new enough.`);
}

export function checkRoom(name: string, place: string, freeBytes: number): Diagnosis {
  const message = `${place} has ${sizeInWords(freeBytes)} free.`;
  const cure = "Delete what is no longer needed there, or enlarge the disk.";
  if (freeBytes < tooLowBytes) return failed(name, message, cure);
  return freeBytes < lowBytes ? warning(name, message, cure) : ok(name, message);
}

export async function checkDataFolder(folder: string): Promise<Diagnosis> {
  const name = "Data folder";
  try {
    await stat(folder);
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = toError(error);
    return code === "ENOENT"
      ? warning(
          name,
          `${folder} is not there yet.`,
          "Start the service: it makes the folder. If the data is elsewhere, set QUARTERDECK_DATA.",
        )
      : failed(
          name,
          `This account can't read and write ${folder} (${code}).`,
          "Run this command as the account that runs the service, or give that account the folder.",
        );
  }
  const { bavail, bsize } = await statfs(folder);
  return checkRoom(name, folder, bavail * bsize);
}

/** @param offsetMs how far the database's clock is ahead of this one; null = unknown */
export async function checkClock(
  host: Pick<LocalHost, "run">,
  offsetMs: number | null,
  signal: AbortSignal,
): Promise<Diagnosis> {
  const name = "Clock";
  const cure = "Keep both clocks by NTP, e.g.: timedatectl set-ntp true";
  const isOff = offsetMs !== null && Math.abs(offsetMs) >= offMs;
  const difference = `The database's clock is ${durationInWords(Math.abs(offsetMs ?? 0))} ${(offsetMs ?? 0) > 0 ? "ahead of" : "behind"} this machine's.`;
  if (isOff) return (Math.abs(offsetMs) >= wrongMs ? failed : warning)(name, difference, cure);
  if ((await isSynchronized(host, signal)) === false)
    return warning(
      name,
      "This machine's clock is not synchronized.",
      "Keep it by NTP: timedatectl set-ntp true",
    );
  return ok(
    name,
    offsetMs === null
      ? `It is ${new Date().toISOString()}.`
      : "This machine and the database have the same time.",
  );
}

/** @returns null where that is unknown, as in a container */
async function isSynchronized(
  host: Pick<LocalHost, "run">,
  signal: AbortSignal,
): Promise<boolean | null> {
  try {
    const argv: [string, ...string[]] = [
      "timedatectl",
      "show",
      "--property=NTPSynchronized",
      "--value",
    ];
    const { exitCode, stdout } = await host.run({ argv, signal });
    return exitCode === 0 ? stdout.trim() === "yes" : null;
  } catch {
    return null;
  }
}

// Runs scripts in a storage's folder, on a server over SSH or on a network mount of this machine, and translates their errors for
// operators.
import { endInWords, isKilled } from "../hosts/end-in-words.ts";
import { accountName } from "../hosts/account.ts";
import { CommandMissing, type Command, type CommandEnd, type Host } from "../hosts/host.ts";
import { ServerAway, toShownText } from "../ssh/server-away.ts";
import { diagnoseLine } from "./disk-errors.ts";
import { markerMissing, markerText } from "./marker.ts";
import { exits, scripts, unreadLine } from "./remote-scripts.ts";
import { StorageError } from "./storage.ts";

export type RemoteFolder = {
  host: Pick<Host, "run" | "account">;
  /** Name of the server in the inventory; null = this machine. */
  server: string | null;
  /** Absolute. The folder is never created, so that nothing is written below the mount point of an unmounted disk. */
  root: string;
};

/** Time limit of a script that transfers no content; no working disk takes that long. */
const stepMs = 60_000;

export const placeOf = ({ root, server }: Pick<RemoteFolder, "root" | "server">): string =>
  server === null ? root : `${root} on ${server}`;

export const storageAway = (
  folder: Pick<RemoteFolder, "root" | "server">,
  cause: ServerAway,
): StorageError =>
  new StorageError(`Couldn't reach the storage ${placeOf(folder)}: ${cause.message}`, { cause });

/** @throws StorageError, the error of the input or of `take`, or the signal's reason */
export async function runThere(
  folder: RemoteFolder,
  script: string,
  args: readonly string[],
  command: Omit<Command, "argv"> = {},
): Promise<CommandEnd> {
  const { host, root } = folder;
  const late = command.signal === undefined ? AbortSignal.timeout(stepMs) : null;
  try {
    return await host.run({
      ...(late !== null && { signal: late }),
      ...command,
      argv: ["sh", "-c", script, "sh", root, ...args],
    });
  } catch (error) {
    // An error of the input belongs to the source, not to the storage.
    if (error === command.input?.errored) throw error;
    if (error instanceof ServerAway) throw storageAway(folder, error);
    if (error instanceof CommandMissing)
      throw new StorageError(`${placeOf(folder)} can't be used: ${error.message}`, {
        cause: error,
      });
    if (late?.aborted === true)
      throw new StorageError(
        `${placeOf(folder)} did not respond within ${stepMs / 1000} s. Look at its disk.`,
      );
    throw error;
  }
}

/** Returns why a script failed. */
export function describeFailure(
  folder: RemoteFolder,
  { exitCode = null, signal = null, stderr }: Partial<CommandEnd> & Pick<CommandEnd, "stderr">,
): StorageError {
  const { host, root, server } = folder;
  const place = placeOf(folder);
  const account =
    server === null ? "the account that runs the service" : `${accountName(host.account)} there`;
  const disk = { place, account };
  const lines = stderr.split("\n").filter((line) => line.trim() !== "" && line !== unreadLine);
  const last = toShownText(lines.at(-1) ?? "").replace(/\.+$/, "");
  const end = { exitCode, signal };
  if (isKilled(end))
    return new StorageError(`${place} can't be used: its script ${endInWords(end)}`);
  if (exitCode === exits.unmarked) return markerMissing({ place, root });
  if (exitCode === exits.noFolder) return diagnosed("Not a directory");
  if (exitCode === exits.closed) return diagnosed("Permission denied");
  const missing = /(\S+): (?:command )?not found$/.exec(last)?.[1];
  if (missing !== undefined)
    return new StorageError(
      `${place} can't be used: ${server ?? "this machine"} has no ${missing}. Install GNU coreutils there.`,
    );
  return diagnosed(last);

  function diagnosed(line: string): StorageError {
    const reason = line === "" ? "its script ended without a reason" : line;
    return diagnoseLine(line, disk) ?? new StorageError(`${place} can't be used: ${reason}.`);
  }
}

/** @throws StorageError */
export async function isMarkedThere(folder: RemoteFolder): Promise<boolean> {
  const end = await runThere(folder, scripts.isMarked, []);
  if (end.exitCode !== 0) throw describeFailure(folder, end);
  return end.stdout !== "";
}

/** @throws StorageError */
export async function markThere(folder: RemoteFolder): Promise<void> {
  const end = await runThere(folder, scripts.mark, [markerText]);
  if (end.exitCode !== 0) throw describeFailure(folder, end);
}

// A storage's folder that commands work in, on a server over SSH or on a network mount of this machine: what runs there, and what
// went wrong in the operator's words.
import { accountName } from "../hosts/account.ts";
import { CommandMissing, type Command, type CommandEnd, type Host } from "../hosts/host.ts";
import { ServerAway, toShownText } from "../ssh/server-away.ts";
import { diagnoseLine } from "./disk-errors.ts";
import { markerMissing, markerText } from "./marker.ts";
import { exits, scripts, unreadLine } from "./remote-scripts.ts";
import { StorageError } from "./storage.ts";

export type RemoteFolder = {
  host: Pick<Host, "run" | "account">;
  /** What the inventory calls the server; null = this machine. */
  server: string | null;
  /** Absolute; the folder has to be there, because what is not mounted must not be written beneath. */
  root: string;
};

/** A question, or a step that moves no content: no disk that works takes so long. */
const stepMs = 60_000;

export const placeOf = ({ root, server }: Pick<RemoteFolder, "root" | "server">): string =>
  server === null ? root : `${root} on ${server}`;

export const storageAway = (
  folder: Pick<RemoteFolder, "root" | "server">,
  cause: ServerAway,
): StorageError =>
  new StorageError(`Couldn't reach the storage ${placeOf(folder)}: ${cause.message}`, { cause });

/** @throws StorageError, or what the input or `take` said, or the signal's reason */
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
    // That of a source is not the storage's.
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

/** Why a script ended with another code than 0. */
export function describeFailure(
  folder: RemoteFolder,
  { exitCode, stderr }: Partial<CommandEnd> & Pick<CommandEnd, "stderr">,
): StorageError {
  const { host, root, server } = folder;
  const place = placeOf(folder);
  const account =
    server === null ? "the account that runs the service" : `${accountName(host.account)} there`;
  const disk = { place, account };
  const lines = stderr.split("\n").filter((line) => line.trim() !== "" && line !== unreadLine);
  const last = toShownText(lines.at(-1) ?? "").replace(/\.+$/, "");
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

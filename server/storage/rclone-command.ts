// Runs rclone on this machine for a storage, and translates its errors for operators.
import type { Command, CommandEnd, Host } from "../hosts/host.ts";
import { CommandMissing } from "../hosts/host.ts";
import { endInWords, isKilled } from "../hosts/end-in-words.ts";
import { givenFile } from "../hosts/given-file.ts";
import { toShownText } from "../ssh/server-away.ts";
import { StorageError } from "./storage.ts";

export type RcloneOptions = {
  host: Pick<Host, "run">;
  /** In rclone's syntax: the name of a remote, a colon and a path. */
  remote: string;
  /** Null = rclone's default config file. In a file rclone renews its tokens; a text is never changed. */
  config: { path: string } | { text: string } | null;
  /**
   * Folder for temporary copies of uploads, for services that need the size in advance; by default the system's temporary folder.
   */
  spoolFolder?: string;
  /** How long a connection may be idle; milliseconds. */
  idleMs?: number;
};

/** Exit code of rclone for a folder that does not exist. */
export const folderMissing = 3;

/** Time limit of a command that transfers no content. */
const stepMs = 60_000;

export const placeOfRemote = (remote: string): string => `rclone remote ${remote}`;

/** Makes files of the local backend readable only for this account. */
const closed = 'umask 077; exec "$@"';

/**
 * @param isStep whether the command transfers no content, so that it gets a time limit
 * @throws StorageError, the error of the input or of `take`, or the signal's reason
 */
export async function runRclone(
  { host, remote, config, idleMs = 60_000 }: RcloneOptions,
  args: readonly string[],
  { isStep = false, ...command }: Omit<Command, "argv"> & { isStep?: boolean } = {},
): Promise<CommandEnd> {
  const place = placeOfRemote(remote);
  const late = isStep ? AbortSignal.timeout(stepMs) : null;
  const signals = [late, command.signal].filter((one) => one != null);
  const path = config === null ? [] : ["--config", "path" in config ? config.path : givenFile(0)];
  const running: Command = {
    ...command,
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
    argv: [
      "sh",
      "-c",
      closed,
      "sh",
      "rclone",
      ...path,
      // Nobody could enter a password.
      "--ask-password=false",
      // A streamed input cannot be sent again.
      "--retries=1",
      "--low-level-retries=3",
      "--contimeout=15s",
      `--timeout=${idleMs}ms`,
      ...args,
    ],
  };
  try {
    const text = config !== null && "text" in config ? config.text : null;
    const end = await host.run(text === null ? running : { ...running, given: [`${text}\n`] });
    if (end.exitCode === 127 && /rclone: not found/.test(end.stderr)) throw rcloneMissing(place);
    return end;
  } catch (error) {
    if (error === command.input?.errored) throw error;
    if (error instanceof CommandMissing) throw rcloneMissing(place);
    if (late?.aborted === true && command.signal?.aborted !== true)
      throw new StorageError(`${place} did not respond within ${stepMs / 1000} s.`);
    throw error;
  }
}

const rcloneMissing = (place: string): StorageError =>
  new StorageError(
    `${place} can't be used: rclone is not installed on this machine. As root: apt-get install rclone`,
  );

/** Patterns of the last error line. The services' own messages differ, rclone's own parts of them less so. */
const words: [RegExp, string][] = [
  [
    /didn't find section in config file/,
    "is not in rclone's config file. Add it with “rclone config”, or correct the remote in the inventory.",
  ],
  [
    /unable to decrypt configuration|RCLONE_CONFIG_PASS/,
    "can't be used: its config file is encrypted. Give Quarterdeck one that is not, readable for its account only.",
  ],
  [/connection refused/, "refused the connection."],
  [/no such host/, "could not be resolved (DNS). Correct the address in rclone's config file."],
  [/i\/o timeout|deadline exceeded|timed? ?out/i, "timed out."],
  [/connection reset|broken pipe|unexpected EOF|connection lost/i, "closed the connection."],
  [
    /unable to authenticate|unauthorized|\b401\b|invalid_grant|InvalidAccessKeyId|SignatureDoesNotMatch|expired/i,
    "refuses the login. Renew it with “rclone config reconnect”, or correct it in rclone's config file.",
  ],
  [
    /AccessDenied|permission denied|forbidden|\b403\b/i,
    "denies the access. Give the account the right to read, write, list and delete there.",
  ],
  [/read-only file system/i, "is mounted read-only. Look at the disk: a fault often does that."],
];
const full =
  /no space left|quota.*exceeded|exceeded.*quota|insufficient (?:storage|space)|\b507\b/i;

/** Returns why rclone failed. */
export function describeRcloneFailure(remote: string, end: CommandEnd): StorageError {
  const place = placeOfRemote(remote);
  if (isKilled(end)) return new StorageError(`${place} can't be used: rclone ${endInWords(end)}`);
  const line = end.stderr.split("\n").findLast((one) => one.trim() !== "") ?? "";
  const reason = toShownText(
    withoutLogins(
      line
        .replace(/^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d (?:[A-Z]+ +: )?/, "")
        .replace(/^Failed to \w+(?: with \d+ errors: last error was)?: /, ""),
    ),
  ).replace(/\.+$/, "");
  if (full.test(reason))
    return new StorageError(`No space left in ${place}. Free some space or delete old backups.`);
  const known = words.find(([pattern]) => pattern.test(reason))?.[1];
  if (known !== undefined) return new StorageError(`${place} ${known}`);
  return new StorageError(
    `${place} can't be used: ${reason === "" ? "rclone ended without a reason" : reason}.`,
  );
}

/** URLs of requests may contain signatures and passwords. */
const withoutLogins = (text: string): string =>
  text.replaceAll(/(https?:\/\/)(?:[^/\s"']*@)?([^?\s"']*)(?:\?[^\s"']*)?/g, "$1$2");

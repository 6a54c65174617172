// Converts failures to messages for the operator, and defines the errors of interrupted and canceled tasks.
import { messageOf } from "../loggable-error.ts";
import { EncryptionError } from "../encryption/encryption-error.ts";
import { SourceError } from "./sources/source.ts";
import { StorageError } from "../storage/storage.ts";
import { DamagedBackup } from "./pipeline/read-verified.ts";
import { describeDatabaseError } from "../store/database-error.ts";
import type { BackupTaskKind } from "../store/tables/backups.ts";
import { ServerAway } from "../ssh/server-away.ts";
import { toError } from "../to-error.ts";
import { describeUnpackError } from "./pipeline/unpack-error.ts";

/** Why a task was ended from outside. The message is for the operator. */
export class Interrupted extends Error {
  override name = "Interrupted";
}

/** The task was canceled by a user, which is not reported as a failure. */
export class Canceled extends Interrupted {
  constructor(by: string) {
    super(`Canceled by ${by}.`);
  }
}

/** The task took longer than any may. */
export class TimedOut extends Interrupted {}

/** Sentences about the result of a canceled task, and of a restore that failed before it began. */
export const leftBehind = {
  run: "Nothing was stored.",
  import: "Nothing was stored.",
  copy: "No copy was stored.",
  restore: "Nothing was changed.",
  drill: "The backup and its source are unchanged.",
  verify: "The backup is unchanged.",
} as const satisfies Record<BackupTaskKind, string>;

/** Message for a canceled task: by whom, and with which result. */
export const cancellationMessage = (reason: Canceled, kind: BackupTaskKind): string =>
  `${reason.message} ${leftBehind[kind]}`;

const known = [SourceError, StorageError, DamagedBackup, EncryptionError, Interrupted, ServerAway];

/** Returns the operator's message for a failure; null for an unexpected error, which is a bug. */
export const operatorMessage = (error: unknown): string | null =>
  known.some((kind) => error instanceof kind) ? toError(error).message : null;

/** Describes errors of the system or a library. */
function describeOwn(error: unknown): string | null {
  const { code, path } = toError(error);
  if (code === "ENOSPC" || code === "EDQUOT")
    return `No space left on Quarterdeck's machine${path === undefined ? "" : `, for ${path}`}. Free some space, then try again.`;
  const words = describeUnpackError(error);
  return words === null ? null : `The stored file can't be unpacked: it is ${words}.`;
}

/** Like `operatorMessage`, with a general sentence for unexpected errors, whose details are in the log. */
export function failureMessage(error: unknown): string {
  const told = operatorMessage(error);
  if (told !== null) return told;
  const database = describeDatabaseError(error);
  if (database !== null) return `Quarterdeck couldn't use its own database. ${database}`;
  return describeOwn(error) ?? `Unexpected error: ${messageOf(error)}`;
}

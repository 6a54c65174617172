// Translates errors of an SFTP server for operators.
import { ServerAway } from "../ssh/server-away.ts";
import { statuses } from "../ssh/sftp/packets.ts";
import { SftpRefusal, shownRefusal, type SftpSession } from "../ssh/sftp/session.ts";
import { diagnoseLine } from "./disk-errors.ts";
import { StorageError } from "./storage.ts";

type Disk = { place: string; account: string };

const lines = new Map<number, string>([
  [statuses.noFile, "No such file or directory"],
  [statuses.denied, "Permission denied"],
]);

function refused(error: SftpRefusal, disk: Disk): StorageError {
  const known = diagnoseLine(lines.get(error.status) ?? "", disk);
  const answered = `its server answered “${shownRefusal(error)}”.`;
  return known ?? new StorageError(`${disk.place} can't be used: ${answered}`);
}

/**
 * Turns errors of the server or the connection into a StorageError; returns all others unchanged.
 * @param session null = not opened yet
 */
export function describeSftpError(
  error: unknown,
  session: SftpSession | null,
  disk: Disk,
): unknown {
  if (error instanceof SftpRefusal) return refused(error, disk);
  if (!(error instanceof ServerAway)) return error;
  // A connection error of another session belongs to the source, not to the storage.
  if (session !== null && session.ended.reason !== error) return error;
  return new StorageError(`Couldn't reach the storage ${disk.place}: ${error.message}`, {
    cause: error,
  });
}

// The folder of the database's socket: beside the database, or in a temporary folder when that path is too long.
import { realpath } from "node:fs/promises";
import { platform, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { closedFolder, makePrivateFolder } from "./access.ts";
import type { Account } from "./command.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { nameOfPath, socketName } from "./settings.ts";

// https://man7.org/linux/man-pages/man7/unix.7.html, "Address format": without the terminating null byte.
const longestSocketBytes = platform() === "linux" ? 107 : 103;

/**
 * Creates the folder for the account alone.
 * @throws {EmbeddedPostgresError} no path is short enough, or the folder belongs to another user
 */
export async function findSocketFolder(home: string, account: Account): Promise<string> {
  const short = `quarterdeck-${nameOfPath(home)}`;
  // Root's temporary folder may be closed to the account; /tmp is open to all.
  for (const folder of [join(home, "socket"), join(tmpdir(), short), join("/tmp", short)]) {
    const above = await realpath(dirname(folder)).catch(() => null);
    if (above === null || (await closedFolder(above, account)) !== null) continue;
    const real = join(above, basename(folder));
    if (Buffer.byteLength(join(real, socketName)) > longestSocketBytes) continue;
    await makePrivateFolder(real, account);
    return real;
  }
  throw new EmbeddedPostgresError(
    `The path ${home} is too long for PostgreSQL's socket, and no temporary folder can hold the socket instead. Set QUARTERDECK_DATA to a shorter path.`,
  );
}

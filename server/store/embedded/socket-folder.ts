// Where the socket of the database lies: with the database, or in a folder for temporary files when that path is too long.
import { realpath } from "node:fs/promises";
import { platform, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { closedFolder, makePrivateFolder } from "./access.ts";
import type { Account } from "./command.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { nameOfPath, socketName } from "./settings.ts";

// https://man7.org/linux/man-pages/man7/unix.7.html, "Address format"; one byte more is the closing zero.
const longestSocketBytes = platform() === "linux" ? 107 : 103;

/** Makes it, for `account` alone. @throws {EmbeddedPostgresError} there is none that is short, or it is somebody else's. */
export async function findSocketFolder(home: string, account: Account): Promise<string> {
  const short = `quarterdeck-${nameOfPath(home)}`;
  // The folder for temporary files of root may be closed to the account; /tmp is open everywhere.
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

// Where everything of one database lies, and whom it belongs to.
//
//   home/            root's own 0711, or the ordinary user's 0700
//     data/          the account's, 0700: PostgreSQL's own files
//     socket/        the account's, 0700
//     secrets/       the service's own 0700: the password, out of reach for the account
//     pg_hba.conf    who may connect; the account may read it
//     programs/      copies of the binaries, only where the package is out of reach
//     postgres.log   written by the server through a handle that we opened
//
// Root writes into no folder of the account: a database in wrong hands could lead it elsewhere by a symbolic link.
import { chmod, lstat, mkdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { closedFolder, makePrivateFolder } from "./access.ts";
import { ownAccount, systemAccount } from "./account.ts";
import type { Account } from "./command.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import type { Log } from "./log.ts";
import { nameOfPath } from "./settings.ts";
import { findSocketFolder } from "./socket-folder.ts";

export type Place = {
  /** The account that the database runs as. */
  account: Account;
  /** Owner of the service's own files here: the service, unless root runs a database that belongs to an ordinary user. */
  owner: { uid: number; gid: number };
  home: string;
  data: string;
  /** File of the setting `hba_file`. */
  accessFile: string;
  /** In the format of PGPASSFILE, for PostgreSQL's own programs. */
  passwordFile: string;
  socketFolder: string;
  programs: string;
  logFile: string;
  /** The requested folder, when the database is stored elsewhere; otherwise null. */
  standsFor: string | null;
};

/** Root of databases whose requested folder is not accessible to their account. */
const sharedRoot = "/var/lib/quarterdeck-postgres";
/** Name of a file in the requested folder with the path of its database below `sharedRoot`. */
const pointerFile = "moved-to.txt";
/**
 * Name of a file beside such a database with the path of the requested folder, which identifies an orphan when that folder was
 * removed.
 */
const origin = "belongs-to.txt";

/** Finds or creates the place of the database for a requested folder. */
export async function findPlace(folder: string, log: Log): Promise<Place> {
  const own = ownAccount();
  await mkdir(dirname(folder), { recursive: true, mode: 0o755 });
  await makeHome(folder, own);
  const home = await realpath(folder);
  if (own.uid !== 0) return placeIn(home, own);

  const moved = await readFile(join(home, pointerFile), "utf8").catch(() => null);
  if (moved !== null) {
    // Earlier versions left it writable as far as the umask allowed, and another writer could redirect the service.
    await chmod(join(home, pointerFile), 0o600);
    return placeMoved(home, moved.trim(), log);
  }
  // An existing database keeps its owner, for example that of a service that ran as an ordinary user before.
  const found = await lstat(join(home, "data")).catch(() => null);
  const account: Account =
    found && found.uid !== 0
      ? { uid: found.uid, gid: found.gid, isOwn: false }
      : await systemAccount(log);
  const closed = await openTheWay(home, account);
  if (closed === null) return placeIn(home, account);
  if (found) {
    throw new EmbeddedPostgresError(
      `The database in ${home} runs as uid ${account.uid}, which cannot enter ${closed}. Allow it with: chmod o+x ${closed}`,
    );
  }
  const elsewhere = join(sharedRoot, nameOfPath(home));
  for (const made of [sharedRoot, elsewhere]) await makeHome(made, own);
  await claim(home, elsewhere);
  return placeIn(elsewhere, account, home);
}

/** Writes the pointer file into the requested folder. Call it once the database exists. */
export async function writePointerFile({ home, standsFor }: Place, log: Log): Promise<void> {
  if (standsFor === null) return;
  const path = join(standsFor, pointerFile);
  if ((await lstat(path).catch(() => null)) !== null) return;
  await writeFile(path, `${home}\n`, { mode: 0o600 });
  log.warn(
    `The database is stored in ${home}, because its user cannot enter ${standsFor}. Back up, move and delete the two folders together.`,
  );
}

async function placeMoved(folder: string, home: string, log: Log): Promise<Place> {
  const found = await lstat(join(home, "data")).catch(() => null);
  if (found) {
    await claim(folder, home);
    return placeIn(home, await systemAccount(log), folder);
  }
  // An empty database in its place would look like a loss of all data.
  throw new EmbeddedPostgresError(
    `The database of ${folder} was stored in ${home}, which no longer exists. Restore that folder, or delete ${join(folder, pointerFile)} to start with an empty database.`,
  );
}

/**
 * Two services would work on one database, each with a lock of its own: one in a copy of a folder, or in a new one where another was
 * before it was moved.
 *
 * @throws EmbeddedPostgresError the database belongs to another folder
 */
async function claim(folder: string, home: string): Promise<void> {
  const read = async (path: string) => (await readFile(path, "utf8").catch(() => "")).trim();
  const owner = await read(join(home, origin));
  const pointer = join(owner, pointerFile);
  if (owner !== "" && (await read(pointer)) === home && !(await isSame(folder, owner)))
    throw new EmbeddedPostgresError(
      `The database in ${home} belongs to ${owner}, so ${folder} can't have it as well. Set QUARTERDECK_DATA to another folder. If ${owner} is no longer used, delete ${pointer}. To run a copy, copy ${home} too while Quarterdeck is stopped, and write the path of that copy into ${join(folder, pointerFile)}.`,
    );
  if (owner !== folder) await writeFile(join(home, origin), `${folder}\n`, { mode: 0o600 });
}

/** Also by two ways, such as a mount. */
async function isSame(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([stat(one), stat(other)]);
  return first.ino === second.ino && first.dev === second.dev;
}

async function placeIn(
  home: string,
  account: Account,
  standsFor: string | null = null,
): Promise<Place> {
  const { uid, gid } = await stat(home);
  const owner = { uid, gid };
  const secrets = join(home, "secrets");
  await makePrivateFolder(secrets, owner);
  return {
    account,
    owner,
    home,
    data: join(home, "data"),
    accessFile: join(home, "pg_hba.conf"),
    passwordFile: join(secrets, "pgpass"),
    socketFolder: await findSocketFolder(home, account),
    programs: join(home, "programs"),
    logFile: join(home, "postgres.log"),
    standsFor,
  };
}

async function makeHome(home: string, own: Account): Promise<void> {
  const mode = own.uid === 0 ? 0o711 : 0o700;
  await mkdir(home, { mode }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const found = await stat(home);
  // Set explicitly, because the umask may have removed bits.
  if (found.uid === own.uid) return chmod(home, mode);
  if (own.uid === 0) return;
  throw new EmbeddedPostgresError(
    `${home} belongs to another user (uid ${found.uid}). Run Quarterdeck as that user or as root, or set QUARTERDECK_DATA to another folder.`,
  );
}

/**
 * Lets the account pass through the folder above `home`, which is the service's own.
 * @returns the folder that is still closed; null = none
 */
async function openTheWay(home: string, account: Account): Promise<string | null> {
  const above = dirname(home);
  const closed = await closedFolder(home, account);
  const { mode, uid } = await stat(above);
  // Not root's home folder, because other software relies on it being closed.
  if (closed !== above || uid !== 0 || above === "/root") return closed;
  await chmod(above, (mode & 0o7777) | 0o011);
  return closedFolder(home, account);
}

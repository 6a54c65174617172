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
  /** Whom the database runs as. */
  account: Account;
  /** Whose the service's own files are here: the service's, unless root runs what belongs to an ordinary user. */
  owner: { uid: number; gid: number };
  home: string;
  data: string;
  /** What `hba_file` names. */
  accessFile: string;
  /** As PostgreSQL's own programs read it, by PGPASSFILE. */
  passwordFile: string;
  socketFolder: string;
  programs: string;
  logFile: string;
  /** The folder that was asked for, when the database lies elsewhere. */
  standsFor: string | null;
};

/** Below it lie the databases whose own folder their account cannot enter. */
const sharedRoot = "/var/lib/quarterdeck-postgres";
/** In a folder whose database lies below `sharedRoot`: its path. */
const pointerFile = "moved-to.txt";
/** Beside such a database: the path of the folder, so that an orphan can be told when that folder was removed. */
const origin = "belongs-to.txt";

/** Finds or makes the place of the database that `folder` stands for. */
export async function findPlace(folder: string, log: Log): Promise<Place> {
  const own = ownAccount();
  await mkdir(dirname(folder), { recursive: true, mode: 0o755 });
  await makeHome(folder, own);
  const home = await realpath(folder);
  if (own.uid !== 0) return placeIn(home, own);

  const moved = await readFile(join(home, pointerFile), "utf8").catch(() => null);
  if (moved !== null) {
    // Earlier versions left it as wide as the umask allowed; whoever writes here leads the service elsewhere.
    await chmod(join(home, pointerFile), 0o600);
    return placeMoved(home, moved.trim(), log);
  }
  // An existing database keeps its owner, e.g. of a service that ran as an ordinary user before.
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

/** Writes the pointer file into the folder that was asked for. To be called when the database is there. */
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
  // An empty database in its stead would look like the loss of everything.
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
  // Once more, because the umask may have taken bits away.
  if (found.uid === own.uid) return chmod(home, mode);
  if (own.uid === 0) return;
  throw new EmbeddedPostgresError(
    `${home} belongs to another user (uid ${found.uid}). Run Quarterdeck as that user or as root, or set QUARTERDECK_DATA to another folder.`,
  );
}

/** Lets `account` through the folder above `home`, which is the service's own. Answers with what stays closed, or null. */
async function openTheWay(home: string, account: Account): Promise<string | null> {
  const above = dirname(home);
  const closed = await closedFolder(home, account);
  const { mode, uid } = await stat(above);
  // Not the home folder of root: others rely on that being closed.
  if (closed !== above || uid !== 0 || above === "/root") return closed;
  await chmod(above, (mode & 0o7777) | 0o011);
  return closedFolder(home, account);
}

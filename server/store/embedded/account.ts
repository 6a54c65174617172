// The account that the database runs as. PostgreSQL refuses root, so a service that runs as root creates a system user for it.
import { closeSync, constants, openSync } from "node:fs";
import { userInfo } from "node:os";
import { DatabaseSync } from "node:sqlite";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { type Account, runCommand } from "./command.ts";
import type { Log } from "./log.ts";

export const accountName = "quarterdeck";

const creators: readonly (readonly [command: string, ...args: string[]])[] = [
  [
    "useradd",
    "--system",
    "--user-group",
    "--no-create-home",
    "--home-dir=/nonexistent",
    "--shell=/usr/sbin/nologin",
    "--comment=Quarterdeck database",
    accountName,
  ],
  // BusyBox. Debian's adduser takes other options, but Debian has useradd.
  ["adduser", "-S", "-D", "-H", "-h", "/nonexistent", "-s", "/sbin/nologin", accountName],
];

/** Returns the user that this process runs as. */
export function ownAccount(): Account {
  try {
    const { uid, gid } = userInfo();
    return { uid, gid, isOwn: true };
  } catch (cause) {
    // A container that was started with a bare uid (`docker run --user 12345`): initdb needs the name and fails.
    throw new EmbeddedPostgresError(
      "The user that runs Quarterdeck has no name on this machine (no entry in /etc/passwd), and PostgreSQL requires one. Add the user, or set DATABASE_URL to use your own PostgreSQL.",
      { cause },
    );
  }
}

/** Lock file that is held while the user is created, in a folder that only root can write to. */
const makingLock = "/run/quarterdeck-account.lock";
/** Longer than `useradd` takes on any machine; milliseconds. */
const makingMs = 30_000;

/**
 * Returns the system user of the database, and creates it if necessary. Requires root.
 * A lock prevents two services from creating the user at once: the second `useradd` would give the name a new uid, and the uid
 * that the first service already uses would belong to no user.
 * @throws {EmbeddedPostgresError} it could not be created; the message says what to do
 */
export async function systemAccount(
  log: Log,
  run = runCommand,
  lockPath = makingLock,
): Promise<Account> {
  const known = await findAccount(run);
  if (known) return known;
  const lock = holdOnceFree(lockPath);
  try {
    return (await findAccount(run)) ?? (await makeAccount(log, run));
  } finally {
    lock?.close();
  }
}

/**
 * Takes an SQLite lock, as for the data folder.
 * @returns null if it cannot be taken; the service starts without it
 */
function holdOnceFree(path: string): DatabaseSync | null {
  try {
    const { O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
    closeSync(openSync(path, O_CREAT | O_NOFOLLOW | O_RDWR, 0o600));
    const lock = new DatabaseSync(path, { timeout: makingMs });
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch {
    return null;
  }
}

async function makeAccount(log: Log, run: typeof runCommand): Promise<Account> {
  const refusals: string[] = [];
  for (const [command, ...args] of creators) {
    const made = await run(command, args);
    // Looked up whatever the exit code, because the user may have been created by other means meanwhile.
    const account = await findAccount(run);
    if (account) {
      log.info(
        `Created the system user ${accountName}, because PostgreSQL refuses to run as root.`,
      );
      return account;
    }
    refusals.push(`${command}: ${made.output.trim() || `exit code ${made.exitCode}`}`);
  }
  throw new EmbeddedPostgresError(
    `Couldn't create the system user “${accountName}” (${refusals.join("; ")}). PostgreSQL refuses to run as root and needs that user. Create it by hand, run Quarterdeck as an ordinary user, or set DATABASE_URL to use your own PostgreSQL.`,
  );
}

async function findAccount(run: typeof runCommand): Promise<Account | null> {
  // `id`, because Node has no getpwnam and /etc/passwd lacks users of a directory service.
  const [user, group] = await Promise.all([
    run("id", ["-u", accountName]),
    run("id", ["-g", accountName]),
  ]);
  if (user.exitCode !== 0 || group.exitCode !== 0) return null;
  const account = { uid: Number(user.output), gid: Number(group.output), isOwn: false };
  if (account.uid === 0) {
    throw new EmbeddedPostgresError(
      `The user “${accountName}” on this machine has uid 0, and PostgreSQL refuses to run as root. Give that user another uid, or set DATABASE_URL to use your own PostgreSQL.`,
    );
  }
  return account;
}

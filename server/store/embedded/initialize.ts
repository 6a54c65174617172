// Creates the database's files at the first start, and refuses files that this PostgreSQL cannot read.
import { lchown, lstat, mkdir, readFile, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Binaries } from "./binaries.ts";
import { runCommand } from "./command.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { writeOwnFile } from "./own-file.ts";
import type { Place } from "./place.ts";
import { accessRules, databaseName, databaseUser } from "./settings.ts";
import { explainText } from "./diagnosis.ts";

const initdbArguments = [
  `--username=${databaseUser}`,
  // The pg_hba.conf that initdb writes rejects all connections; the access rules are in another file, see `accessRules`.
  "--auth=reject",
  "--encoding=UTF8",
  // PostgreSQL's builtin C.UTF-8 needs no locale of the machine, and its order does not change with the C library.
  "--locale=C",
  "--locale-provider=builtin",
  "--builtin-locale=C.UTF-8",
  "--data-checksums",
  "--no-instructions",
];

/** @throws {EmbeddedPostgresError} the files belong to another version or not to PostgreSQL, or cannot be created */
export async function initializeData(
  place: Place,
  { initdb }: Binaries,
  packageVersion: string,
): Promise<void> {
  const found = await lstat(place.data).catch(() => null);
  if (!found) await makeData(place, initdb);
  await checkVersion(place, packageVersion);
  // Root may have restored the files from a backup, but the account must own them.
  if (found && found.uid !== place.account.uid) await giveAway(place.data, place);
  await closeData(place);
}

/** Writes the file of the setting `hba_file`, which the account may read but not write. */
export async function writeAccessRules({ accessFile, account, owner }: Place): Promise<void> {
  const readers =
    account.uid === owner.uid
      ? { ...owner, mode: 0o600 }
      : { uid: owner.uid, gid: account.gid, mode: 0o640 };
  await writeOwnFile(accessFile, accessRules, readers);
}

/**
 * Also copies the access rules into the data folder, for a server that is started by hand. Earlier versions allowed all
 * connections there.
 * @throws {EmbeddedPostgresError} they cannot be written
 */
async function closeData(place: Place): Promise<void> {
  const rules = join(place.data, "pg_hba.conf");
  if ((await readFile(rules, "utf8").catch(() => null)) === accessRules) return;
  // Run as the account itself, so that a symbolic link in place of the file gives it no additional access.
  const copied = await runCommand("cp", [place.accessFile, rules], place.account);
  if (copied.exitCode === 0) return;
  const reason = await explainText(place, copied.output, ", then start Quarterdeck again.");
  throw new EmbeddedPostgresError(
    reason ?? `Couldn't write the access rules to ${rules}: ${copied.output.trim()}`,
  );
}

async function makeData(place: Place, initdb: string): Promise<void> {
  // Created under another name first, so that a crash leaves nothing that looks like a database.
  const unfinished = `${place.data}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  await lchown(unfinished, place.account.uid, place.account.gid);
  const made = await runCommand(initdb, [...initdbArguments, unfinished], place.account);
  if (made.exitCode === 0) return rename(unfinished, place.data);
  await rm(unfinished, { recursive: true, force: true });
  const reason = await explainText(place, made.output, ", then start Quarterdeck again.");
  throw new EmbeddedPostgresError(
    reason ?? `Couldn't create the database in ${place.data}: ${made.output.trim()}`,
  );
}

async function checkVersion(place: Place, packageVersion: string): Promise<void> {
  const version = await readFile(join(place.data, "PG_VERSION"), "utf8").catch(() => null);
  const ours = packageVersion.split(".")[0];
  const theirs = version?.trim();
  if (theirs === ours) return;
  if (theirs === undefined) {
    throw new EmbeddedPostgresError(
      `${place.data} exists but contains no PostgreSQL database. Move it away, or restore the database from a backup.`,
    );
  }
  const reach = `--host=${place.socketFolder} --username=${databaseUser} --dbname=${databaseName}`;
  throw new EmbeddedPostgresError(
    [
      `The database in ${place.data} was created by PostgreSQL ${theirs}. This version of Quarterdeck includes PostgreSQL ${ours}, which cannot read it. Nothing was changed.`,
      `To migrate: 1. Start the previous version of Quarterdeck and dump the database:`,
      `PGPASSFILE=${place.passwordFile} pg_dump --format=custom --file=quarterdeck.dump ${reach} (pg_dump ${theirs} or newer).`,
      `2. Stop it, move ${place.data} away, and start this version, which creates an empty database.`,
      `3. Load the dump: PGPASSFILE=${place.passwordFile} pg_restore --clean --if-exists ${reach} quarterdeck.dump, and restart Quarterdeck.`,
      `Or run PostgreSQL ${theirs} yourself and set DATABASE_URL.`,
    ].join(" "),
  );
}

async function giveAway(path: string, place: Place): Promise<void> {
  await lchown(path, place.account.uid, place.account.gid);
  if (!(await lstat(path)).isDirectory()) return;
  for (const name of await readdir(path)) await giveAway(join(path, name), place);
}

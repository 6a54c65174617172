// Creates and removes what a restore or drill has on the server while it runs: sessions, identified by a lock, and scratch databases.
import { characterSetOf, plainSession, quoteName, quoteText, type MysqlClient } from "./client.ts";
import { codes, isNotAllowed, MysqlError } from "./errors.ts";
import { markerTable, type Names } from "./plan.ts";
import { readAccount } from "./privileges.ts";
import { SourceError } from "../source.ts";

/**
 * How long a statement waits for another connection's table lock before it fails. Short, because later sessions that use the table
 * wait behind it.
 */
const lockWaitSeconds = 5;

type Lock = Pick<Names, "lock">;

/**
 * Returns the statements that each session that changes something begins with. The start times of rows in system-versioned tables are
 * restored, too, where they have a column. The named lock lets `endSessions` find our sessions, because a killed service leaves its
 * clients running. The query fails without the marker, so that a session that a kill left waiting does nothing after the cleanup.
 */
export const leadOf = ({ lock }: Lock, markedDatabase: string | null): string =>
  `${plainSession}SET SESSION lock_wait_timeout=${lockWaitSeconds}, foreign_key_checks=0 /*M!101100 , system_versioning_insert_history=1 */;\nDO GET_LOCK(${quoteText(lock)}, 3600);\n${
    markedDatabase === null
      ? ""
      : `DO (SELECT COUNT(*) FROM ${quoteName(markedDatabase)}.${markerTable});\n`
  }`;

/** Ends sessions that a killed service or an abort left on the server. */
export async function endSessions(
  client: MysqlClient,
  { lock }: Lock,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const [row] = await client.query(`SELECT IS_USED_LOCK(${quoteText(lock)})`, { signal });
    const session = row?.[0] ?? "NULL";
    if (session === "NULL") return;
    // The session may have ended meanwhile.
    await client.query(`KILL ${session}`, { signal }).catch((error: unknown) => {
      if (!(error instanceof MysqlError) || error.code !== codes.noSuchThread) throw error;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * @param options `checked`: the database whose tables stay if foreign keys of other databases refer to them
 * @throws SourceError that says how to remove them, where the account may not drop them
 */
export async function dropScratch(
  client: MysqlClient,
  databases: readonly string[],
  signal: AbortSignal,
  { checked }: { checked?: string } = {},
): Promise<void> {
  // In the order of `databases`, so that the one that tells the state of the restore is dropped last.
  const listPresent = async () => {
    const rows = await client.query(
      `SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN (${databases.map(quoteText).join(", ")})`,
      { signal },
    );
    const present = new Set(rows.map(([name]) => name));
    return databases.filter((database) => present.has(database));
  };
  if (databases.length === 0) return;
  // Listed first, because an account that may not create them may not run DROP … IF EXISTS either.
  const present = await listPresent();
  if (present.length === 0) return;
  const drops = present.map(
    (database) =>
      `SET SESSION foreign_key_checks=${database === checked ? 1 : 0};\nDROP DATABASE IF EXISTS ${quoteName(database)};\n`,
  );
  try {
    await client.query(`SET SESSION lock_wait_timeout=${lockWaitSeconds};\n${drops.join("")}DO 0`, {
      signal,
    });
  } catch (error) {
    if (!isNotAllowed(error)) throw error;
    const left = await listPresent();
    const { shown } = await readAccount(client, signal);
    const cure = left.map((database) => `DROP DATABASE ${quoteName(database)};`).join(" ");
    throw new SourceError(
      `${shown} may not drop what a restore or drill left, ${left.join(" and ")}. Run with an account that may: ${cure} Or allow it with: ${grantScratch(shown)} (${error.message})`,
      { cause: error },
    );
  }
}

/**
 * Refuses to continue where a scratch database may exist unseen: the server hides databases from accounts without privileges on them.
 * @throws SourceError where the account may not see it
 */
export async function refuseHidden(
  client: MysqlClient,
  database: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.query(`SHOW TABLES FROM ${quoteName(database)}`, { signal });
  } catch (error) {
    if (error instanceof MysqlError && error.code === codes.unknownDatabase) return;
    if (!isNotAllowed(error)) throw error;
    const { shown } = await readAccount(client, signal);
    throw new SourceError(
      `${shown} may not look into scratch databases. Allow it with: ${grantScratch(shown)}`,
      { cause: error },
    );
  }
}

/** @param account quoted for SQL */
const grantScratch = (account: string): string =>
  `GRANT ALL PRIVILEGES ON \`quarterdeck\\_%\`.* TO ${account};`;

export async function makeScratch(
  client: MysqlClient,
  names: Lock,
  database: string,
  signal: AbortSignal,
): Promise<void> {
  // A foreign dump may have tables without a character set, which get the default of the database.
  const characterSet = (await characterSetOf(client, signal)) ?? "";
  try {
    await client.query(
      `${leadOf(names, null)}CREATE DATABASE ${quoteName(database)} ${characterSet};\nCREATE TABLE ${quoteName(database)}.${markerTable} (id INT PRIMARY KEY) ENGINE=InnoDB`,
      { signal },
    );
  } catch (error) {
    if (!(error instanceof MysqlError) || error.code !== codes.noRightsToDatabase) throw error;
    const { shown } = await readAccount(client, signal);
    throw new SourceError(
      `The account may not make the scratch database that a restore needs. Run on the server: ${grantScratch(shown)}`,
    );
  }
}

// Dumps all databases of a server into one archive: first the accounts, then each database as a dump from a snapshot of its own.
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { toError } from "../../../to-error.ts";
import { padding } from "../folder/tar-header.ts";
import { clientOf, type MysqlClient } from "../mysql/client.ts";
import { dumpMysql } from "../mysql/dump.ts";
import { readAccount } from "../mysql/privileges.ts";
import { SourceError, type Attempt, type Manifest } from "../source.ts";
import { createCounts } from "../whole-server/counts.ts";
import { pathOf } from "../whole-server/names.ts";
import { archiveEnd, headOf } from "../whole-server/tar.ts";
import { writeTo } from "../../../write-to.ts";
import { accountsPath, grantsPath, readAccounts } from "./accounts.ts";
import { listDatabases, readsAccounts } from "./databases.ts";
import { createPieces } from "./pieces.ts";

/** @throws SourceError, an abort, or the error of `into`; `into` is destroyed then */
export async function dumpServer(
  client: MysqlClient,
  into: Writable,
  attempt: Attempt,
): Promise<Manifest> {
  const { say, signal } = attempt;

  async function addFile(path: string, content: readonly Buffer[]): Promise<void> {
    const sizeBytes = content.reduce((sum, { length }) => sum + length, 0);
    await writeTo(into, headOf(path, sizeBytes, new Date()));
    for (const piece of content) await writeTo(into, piece);
    const rest = padding(sizeBytes);
    if (rest.length > 0) await writeTo(into, rest);
  }

  const isGone = async (database: string): Promise<boolean> =>
    !(await listDatabases(client, signal)).names.includes(database);

  /** @returns null where the database was dropped meanwhile */
  async function addDatabase(database: string): Promise<Manifest | null> {
    let isBegun = false;
    const pieces = createPieces((name, content) => {
      isBegun = true;
      return addFile(`${pathOf(database)}/${name}`, content);
    });
    // The writer gets the error, too.
    pieces.on("error", () => undefined);
    const told = (line: string) => say(`${database}: ${line}`);
    try {
      const options = { client: clientOf(client, database) };
      return await dumpMysql(options, pieces, { ...attempt, say: told });
    } catch (error) {
      signal.throwIfAborted();
      if (!isBegun && (await isGone(database))) return null;
      throw error instanceof SourceError
        ? new SourceError(`Database ${database}: ${error.message}`, { cause: error })
        : error;
    }
  }

  try {
    const { names } = await listDatabases(client, signal);
    const account = await readAccount(client, signal);
    const { accounts, grants, notes } = await readAccounts(client, readsAccounts(account), signal);
    notes.forEach(say);
    await addFile(accountsPath, [Buffer.from(accounts)]);
    await addFile(grantsPath, [Buffer.from(grants)]);
    const counts = createCounts();
    for (const database of names) {
      const counted = await addDatabase(database);
      if (counted?.kind === "database") counts.add(database, counted);
      else say(`The database ${database} was dropped during the run, and is not in the backup.`);
    }
    await writeTo(into, archiveEnd());
    into.end();
    await finished(into, { readable: false });
    return counts.manifest();
  } catch (error) {
    const cause = signal.aborted ? toError(signal.reason) : toError(error);
    into.destroy(cause);
    throw cause;
  }
}

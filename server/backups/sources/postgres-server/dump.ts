// Dumps all databases of a server into one archive: first the roles and other globals, then each database as an archive of pg_dump,
// from a snapshot of its own.
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { toError } from "../../../to-error.ts";
import { sizeInWords } from "../../formatting.ts";
import { padding } from "../folder/tar-header.ts";
import { inWords, patience, runTool, serverVersion, type Target } from "../postgres/connection.ts";
import { isMissingDatabase, withServer } from "../postgres/databases.ts";
import { dumpContent } from "../postgres/dump.ts";
import { lastWords, toolsToDump, type Installations } from "../postgres/tools.ts";
import { SourceError, type Attempt, type Manifest } from "../source.ts";
import { writeTo } from "../../../write-to.ts";
import { listDatabases, lookAtAccount, sizesOf, type Account } from "./databases.ts";
import { createCounts } from "../whole-server/counts.ts";
import { fileOf } from "../whole-server/names.ts";
import { archiveEnd, headOf } from "../whole-server/tar.ts";
import { globalsPath } from "./roles.ts";
import { createSpoolReader, freeBytesIn, spooled } from "./spool.ts";

type DumpOptions = {
  installations: Promise<Installations>;
  /** Folder on the server's machine that holds a dump until its size is known. */
  spoolFolder: string;
};

export async function dumpServer(
  target: Target,
  into: Writable,
  attempt: Attempt,
  { installations, spoolFolder }: DumpOptions,
): Promise<Manifest> {
  const { machine: host } = target;
  const { say, signal } = attempt;
  const session = { applicationName: `quarterdeck backup ${attempt.id}`, signal };
  const emit = (piece: Buffer) => writeTo(into, piece);

  /** @param write passes the output of a spooled command to `take` */
  async function addFile<Result>(
    path: string,
    write: (take: (piece: Buffer) => Promise<void>) => Promise<Result>,
    onBegun: () => void = () => undefined,
  ): Promise<Result> {
    let rest: Buffer = Buffer.alloc(0);
    const reader = createSpoolReader(async (sizeBytes) => {
      onBegun();
      rest = padding(sizeBytes);
      await emit(headOf(path, sizeBytes, new Date()));
    }, emit);
    const result = await write(reader.take);
    reader.end();
    if (rest.length > 0) await emit(rest);
    return result;
  }

  async function addGlobals(tools: string, account: Account): Promise<void> {
    const dump = [
      tools,
      "--globals-only",
      "--encoding=UTF8",
      "--no-password",
      ...(account.readsPasswords ? [] : ["--no-role-passwords"]),
      `--database=${target.database}`,
      `--dbname=${patience}`,
    ] as const;
    await addFile(globalsPath, async (take) => {
      const argv = spooled(spoolFolder, dump);
      const end = await runTool({ host, target, ...session }, { argv, take, signal });
      if (end.exitCode !== 0)
        throw new SourceError(`${target.name}: pg_dumpall failed: ${lastWords(end)}`);
    });
  }

  async function isGone(database: string): Promise<boolean> {
    const names = await withServer(target, session, (client) => listDatabases(client, target));
    return !names.includes(database);
  }

  /** @returns null where the database was dropped meanwhile */
  async function addDatabase(database: string) {
    let isBegun = false;
    try {
      return await addFile(
        fileOf(database),
        (take) =>
          dumpContent(host, { ...target, database }, attempt, {
            installations,
            toCommand: (dump) => spooled(spoolFolder, dump),
            take,
          }),
        () => (isBegun = true),
      );
    } catch (error) {
      signal.throwIfAborted();
      if (!isBegun && (isMissingDatabase(error) || (await isGone(database)))) return null;
      if (!(error instanceof SourceError)) throw error;
      const words = error.message.includes("No space left on device")
        ? `its dump doesn't fit into ${spoolFolder}, where it lies until it is whole. Free some space there, and run the backup again. (${error.message})`
        : error.message;
      throw new SourceError(`Database ${database}: ${words}`, { cause: error });
    }
  }

  try {
    const { tools: installed } = await installations;
    const { account, names, sizes, version } = await withServer(target, session, async (client) => {
      const databases = await listDatabases(client, target);
      return {
        account: await lookAtAccount(client),
        names: databases,
        sizes: await sizesOf(client, databases),
        version: await serverVersion(client),
      };
    });
    const free = await freeBytesIn(host, spoolFolder, signal);
    const [largest] = [...sizes].sort(([, one], [, other]) => other - one);
    if (free !== null && largest !== undefined && largest[1] > free)
      say(
        `${sizeInWords(free)} free in ${spoolFolder}, where each dump lies until it is whole. The database ${largest[0]} takes ${sizeInWords(largest[1])}: if its dump doesn't fit, the run fails.`,
      );
    await addGlobals(toolsToDump(installed, version).program("pg_dumpall"), account);
    const counts = createCounts();
    for (const database of names) {
      const counted = await addDatabase(database);
      if (counted === null)
        say(`The database ${database} was dropped during the run, and is not in the backup.`);
      else counts.add(database, counted);
    }
    await emit(archiveEnd());
    into.end();
    await finished(into, { readable: false });
    return counts.manifest();
  } catch (error) {
    const cause = signal.aborted ? toError(signal.reason) : inWords(target, error);
    into.destroy(cause);
    throw cause;
  }
}

// Replaces the content of a database by an archive, in one transaction that drops the content and runs the archive's SQL.
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Host } from "../../../hosts/host.ts";
import { pipelineEnds, pipelineOf } from "../../../hosts/shell-pipeline.ts";
import { giveBackPiece } from "../../../piece-memory.ts";
import { streamOf } from "../../../storage/stream-of.ts";
import { openArchive, type Archive } from "./archive.ts";
import { archiveSql, withFittingSettings } from "./archive-sql.ts";
import { leavesPublic, listFor, readRights } from "./rights.ts";
import { patience, serverVersion, withClient, type Target, runTool } from "./connection.ts";
import { prologue, ownSearchPath } from "./prologue.ts";
import { tellNames } from "./privileges.ts";
import { givingProperties } from "./properties.ts";
import { howToMakeTemplate } from "./restorable.ts";
import { findTools, lastWords, type Installations, type Tools } from "./tools.ts";
import { carryingLevel, unpackCommand } from "../compress-there.ts";
import { compressHere } from "../../pipeline/packing.ts";
import { SourceError, type Attempt } from "../source.ts";

/** Printed once everything before it has succeeded, including the `commit`. */
const endMark = "quarterdeck: restored";
/** How long a restore waits by default for the locks of a session that uses the database. */
export const defaultLockWaitMs = 30_000;

type RestoreArchiveOptions = {
  lockWaitMs?: number;
  /**
   * Restores the archive without its rows first, so that the prologue has to drop the same objects as in the original database:
   * an object that it leaves makes the second restore fail.
   */
  isRehearsal?: boolean;
  /** Leaves out owners and privileges, because the server may lack the roles that the archive names. */
  isWithoutRoles?: boolean;
  /** Statements for a database that was created for the restore, see `readProperties`. */
  properties?: readonly string[];
};

export type Backup = { tools: Tools; archive: Archive };

type Opening = {
  /** The machine that runs the tools. */
  host: Host;
  /** Whether the archive is compressed by zstd. */
  isPacked: boolean;
  /** Whether the caller reads the archive's stream, too, so that it must not be compressed for the transfer. */
  isReadHere?: boolean;
};

/**
 * @param installations of the machine that runs the tools; absent = they are looked up
 * @throws SourceError where the machine lacks the tools or `from` is not an archive; or the error of `from`
 */
export async function openBackup(
  { host, isPacked, isReadHere = false }: Opening,
  from: Readable,
  signal: AbortSignal,
  installations?: Installations,
): Promise<Backup> {
  // The newest reads the archives of all others.
  const found = installations ?? (await findTools(host, signal));
  const [tools] = found.tools;
  const isSqlPacked = host.isRemote && found.hasZstd;
  const isPackedHere = isSqlPacked && !isPacked && !isReadHere;
  const content = isPackedHere ? packed(from) : from;
  const running = { host, isPacked: isPacked || isPackedHere, isSqlPacked };
  return { tools, archive: await openArchive(running, tools, content, signal) };
}

/** How to restore by hand where rows of a backup violate the backup's own constraints, by PostgreSQL's message. */
const byHand: readonly (readonly [RegExp, string])[] = [
  [
    / violates foreign key constraint |could not create (?:unique index|exclusion constraint) /,
    "pg_restore leaves out the constraint and restores the rest",
  ],
  [
    / violates check constraint /,
    "pg_restore --section=pre-data makes the tables; once the constraint is dropped, --section=data and --section=post-data restore the rest",
  ],
];

/**
 * @param applicationName names the session, so that it can be found and ended
 * @throws SourceError, `from`'s error, or the signal's reason; the database is as it was, unless an abort came after the commit
 */
export async function restoreArchive(
  host: Host,
  target: Target,
  applicationName: string,
  backup: Backup,
  attempt: Attempt,
  {
    lockWaitMs = defaultLockWaitMs,
    isRehearsal = false,
    isWithoutRoles = false,
    properties = [],
  }: RestoreArchiveOptions = {},
): Promise<void> {
  const { tools, archive } = backup;
  const { signal } = attempt;
  let left: readonly string[] = [];
  try {
    const server = await withClient(target, { applicationName, signal }, async (client) => {
      const rights = await readRights(client, archive.contents);
      return { rights, version: await serverVersion(client) };
    });
    const { beyond } = server.rights;
    left = beyond;
    if (beyond.length > 0)
      attempt.say(
        `Warning: left out, because only a superuser may create it: the extension ${tellNames(beyond)}.`,
      );
    if (!isWithoutRoles && leavesPublic(archive.contents, server.rights, server.version))
      attempt.say(
        "Warning: left as they are, because the account may not change them: the owner and privileges of the schema public.",
      );
    const start =
      prologue(archive.dumpMajor < 15, lockWaitMs) +
      givingProperties(properties) +
      `select ${ownSearchPath(properties.length > 0)};\n`;
    const list = listFor(archive.contents, server.rights);
    const without = isWithoutRoles ? ["--no-owner", "--no-privileges"] : [];
    const restore = (input: Readable, say: Attempt["say"], more: string[] = []) =>
      runScript(
        { host, backup, target, applicationName, lockWaitMs, isRehearsal },
        {
          start,
          sql: withFittingSettings(
            archiveSql({ tools, archive, input, list, more: [...without, ...more], signal }),
            server.version.major,
          ),
        },
        { say, signal },
      );
    // Without messages, because the same ones come again with the rows.
    if (isRehearsal) await restore(archive.openHead(), () => undefined, ["--schema-only"]);
    await restore(archive.stream, attempt.say);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SourceError)) throw error;
    const cure = byHand.find(([said]) => said.test(error.message))?.[1];
    if (cure !== undefined)
      throw new SourceError(
        `${error.message} The rows were so when the backup was made. Download it, and restore by hand: ${cure}.`,
        { cause: error },
      );
    if (left.length > 0 && isRehearsal)
      throw new SourceError(
        `${error.message} The extension ${tellNames(left)} was left out, because only a superuser may create it. ${howToMakeTemplate(left)}`,
        { cause: error },
      );
    throw error;
  }
}

type Script = {
  start: string;
  sql: AsyncIterable<Buffer>;
  /** Runs after all of the archive. */
  end?: string;
};

async function* linesOf({ start, sql, end = "" }: Script): AsyncGenerator<Buffer> {
  yield Buffer.from(start);
  yield* sql;
  yield Buffer.from(end);
  yield Buffer.from(`\\echo ${endMark}\n`);
}

/** Compresses content for the transfer to another machine. */
function packed(content: Readable): Readable {
  const { into, out } = compressHere(carryingLevel);
  // The reader of the stream gets the error.
  pipeline(content, into).catch(() => undefined);
  return out.once("close", () => into.destroy());
}

type Run = {
  host: Host;
  backup: Backup;
  target: Target;
  applicationName: string;
  lockWaitMs: number;
  isRehearsal: boolean;
};

export async function runScript(
  run: Run,
  script: Script,
  { say, signal }: Pick<Attempt, "say" | "signal">,
): Promise<void> {
  const { backup, target, lockWaitMs, isRehearsal } = run;
  const { isSqlPacked } = backup.archive;
  const psql = [
    backup.tools.program("psql"),
    "--no-psqlrc",
    "--quiet",
    "--no-password",
    // Results such as those of `select setval(…)` are not needed.
    "--output=/dev/null",
    "--set=ON_ERROR_STOP=1",
    `--dbname=${patience}`,
  ] as const;
  const lines = streamOf(linesOf(script), () => undefined, { isOneByOne: true });
  const end = await runTool(run, {
    argv: isSqlPacked ? pipelineOf(unpackCommand, psql) : psql,
    input: isSqlPacked ? packed(lines) : lines,
    release: giveBackPiece,
    onErrorLine(line) {
      const warning = /^(?:psql:<stdin>:\d+: )?WARNING: +(.*)$/.exec(line)?.[1];
      // The archive's own BEGIN, within ours.
      const isOurs = warning === "there is already a transaction in progress";
      if (warning !== undefined && !isOurs) say(`Warning: ${warning}`);
    },
    signal,
  });
  const exitCode = isSqlPacked ? pipelineEnds(end.stderr)?.[1] : end.exitCode;
  if (exitCode === 0 && end.stdout.includes(endMark)) return;
  const why = whyNot(lastWords(end), lockWaitMs);
  throw new SourceError(
    isRehearsal ? `The backup cannot be restored: ${why}` : `${target.name} is unchanged: ${why}`,
  );
}

function whyNot(words: string, lockWaitMs: number): string {
  if (words.includes("lock timeout"))
    return `another session held one of its tables for more than ${lockWaitMs / 1000} seconds. Stop what works with the database, and restore again.`;
  // Not restored without owners instead, because the objects would silently belong to another role.
  if (/must be (?:member of|able to SET|owner of) /i.test(words))
    return `something belongs to another role, and the account may neither replace it nor give it back. Make the account a member of that role with GRANT, or restore as a superuser. (${words})`;
  if (/role ".*" does not exist/.test(words))
    return `the backup names a role that this server does not have. Create it with CREATE ROLE, and restore again. (${words})`;
  if (words.includes("max_locks_per_transaction"))
    return `it has more objects than the server can lock at once. Raise max_locks_per_transaction in postgresql.conf, restart PostgreSQL, and restore again. (${words})`;
  return words;
}

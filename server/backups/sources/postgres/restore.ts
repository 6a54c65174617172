// Puts an archive in place of a database's content: one transaction, which drops what is there and runs the archive.
import type { Readable } from "node:stream";
import { createGatherer } from "../../../hosts/gatherer.ts";
import type { Host } from "../../../hosts/host.ts";
import { giveBackPiece } from "../../../piece-memory.ts";
import { streamOf } from "../../../storage/stream-of.ts";
import { openArchive, type Archive } from "./archive.ts";
import { leavesPublic, listFor, readRights } from "./rights.ts";
import { patience, serverVersion, withClient, type Target, runTool } from "./connection.ts";
import { prologue, ownSearchPath } from "./prologue.ts";
import { tellNames } from "./privileges.ts";
import { givingProperties } from "./properties.ts";
import { howToMakeTemplate } from "./restorable.ts";
import { findTools, lastWords, type Installations, type Tools } from "./tools.ts";
import { SourceError, type Attempt } from "../source.ts";

/** Says that everything before it went through, the `commit` as well. */
const endMark = "quarterdeck: restored";
/** How long a session that uses the database may keep a restore waiting, unless told otherwise. */
export const defaultLockWaitMs = 30_000;

type RestoreArchiveOptions = {
  lockWaitMs?: number;
  /**
   * Restores the archive without its rows first, so that everything it names stands in the way as it does in the
   * database it came from: what the prologue leaves is a failure then.
   */
  isRehearsal?: boolean;
  /** The server need not have the roles that the archive names. */
  isWithoutRoles?: boolean;
  /** Statements for a database that was made for the restore, see `readProperties`. */
  properties?: readonly string[];
};

export type Backup = { tools: Tools; archive: Archive };

/**
 * @param installations of the machine that runs the tools; left out: they are looked for
 * @throws SourceError when it is no archive, or `from`'s own error
 */
export async function openBackup(
  running: Parameters<typeof openArchive>[0],
  from: Readable,
  signal: AbortSignal,
  installations?: Installations,
): Promise<Backup> {
  // The newest reads the archives of all others.
  const [tools] = (installations ?? (await findTools(running.host, signal))).tools;
  return { tools, archive: await openArchive(running, tools, from, signal) };
}

/** What helps by hand where the rows of a backup don't hold what the backup itself asks of them: by what PostgreSQL says. */
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

/** More than pg_restore writes from `COMMIT` on. */
const heldBytes = 4096;

/**
 * @param applicationName names the session, so that it can be found and ended
 * @throws SourceError, `from`'s error, or the signal's reason; the database is as it was, unless an abort came after the commit
 */
export async function restoreArchive(
  host: Host,
  target: Target,
  applicationName: string,
  { tools, archive }: Backup,
  attempt: Attempt,
  {
    lockWaitMs = defaultLockWaitMs,
    isRehearsal = false,
    isWithoutRoles = false,
    properties = [],
  }: RestoreArchiveOptions = {},
): Promise<void> {
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
        { host, tools, target, applicationName, lockWaitMs, isRehearsal },
        {
          start,
          sql: withFittingSettings(
            archiveSql({ tools, archive, input, list, more: [...without, ...more], signal }),
            server.version.major,
          ),
        },
        { say, signal },
      );
    // It says nothing: what there is to say comes again with the rows.
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

/**
 * The archive as SQL. `--single-transaction` brings its own `COMMIT` at the end (and keeps large objects from having
 * theirs in the middle); the end is held back until pg_restore has ended well, so that psql never commits half an archive.
 */
export async function* archiveSql(options: {
  tools: Tools;
  archive: Archive;
  input: Readable;
  list: string[] | null;
  /** Further arguments. */
  more: string[];
  /** The script around it has a transaction of its own, and ends it. */
  isWithinOurs?: boolean;
  /** What is said where pg_restore can't read it, before its own words. */
  unreadable?: string;
  signal: AbortSignal;
}): AsyncGenerator<Buffer> {
  const { tools, archive, input, list, more, isWithinOurs = false, signal } = options;
  const { unreadable = "The backup could not be read:" } = options;
  const leaving = new AbortController();
  const output = createGatherer();
  const running = archive.run(list, {
    argv: [
      tools.program("pg_restore"),
      ...(isWithinOurs ? [] : ["--single-transaction"]),
      // They would begin to replicate from elsewhere, into what was just restored.
      "--no-subscriptions",
      "--file=-",
      ...more,
    ],
    input,
    take: output.take,
    signal: AbortSignal.any([signal, leaving.signal]),
  });
  running.then(output.end, output.fail);
  try {
    const held: Buffer[] = [];
    let heldAfterFirst = 0;
    for await (const piece of output.pieces) {
      if (held.length > 0) heldAfterFirst += piece.length;
      held.push(piece);
      while (heldAfterFirst >= heldBytes) {
        const [first] = held.splice(0, 1);
        heldAfterFirst -= held[0]?.length ?? 0;
        if (first !== undefined) yield first;
      }
    }
    const end = await running;
    if (end.exitCode !== 0)
      throw new SourceError(`${unreadable} pg_restore says: ${lastWords(end)}`);
    yield* held;
  } finally {
    leaving.abort();
    await running.catch(() => undefined);
  }
}

const settingsLimitBytes = 64 * 1024;

/** Changes the settings that pg_restore writes before everything else. */
export async function* withFittingSettings(
  sql: AsyncIterable<Buffer>,
  serverMajor: number,
): AsyncGenerator<Buffer> {
  let start: Buffer | null = Buffer.alloc(0);
  const fit = (text: string) => {
    // The prologue's limit is to hold until the end.
    const limited = text.replace(/^SET lock_timeout = 0;\n/m, "");
    // So is the search path.
    const found = limited.replace(
      /^SELECT pg_catalog\.set_config\('search_path', '', false\);\n/m,
      "",
    );
    // Written by 17 and newer for whatever server, and an error for an older one.
    return serverMajor >= 17 ? found : found.replace(/^SET transaction_timeout = 0;\n/m, "");
  };
  for await (const chunk of sql) {
    if (start === null) {
      yield chunk;
      continue;
    }
    start = Buffer.concat([start, chunk]);
    // Byte by byte, because the text may be in any encoding.
    const text = start.toString("latin1");
    if (!text.includes("SET check_function_bodies") && start.length < settingsLimitBytes) continue;
    start = null;
    yield Buffer.from(fit(text), "latin1");
  }
  if (start !== null) yield Buffer.from(fit(start.toString("latin1")), "latin1");
}

type Script = {
  start: string;
  sql: AsyncIterable<Buffer>;
  /** Runs once all of the archive went through. */
  end?: string;
};

async function* linesOf({ start, sql, end = "" }: Script): AsyncGenerator<Buffer> {
  yield Buffer.from(start);
  yield* sql;
  yield Buffer.from(end);
  yield Buffer.from(`\\echo ${endMark}\n`);
}

type Run = {
  host: Host;
  tools: Tools;
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
  const { tools, target, lockWaitMs, isRehearsal } = run;
  const end = await runTool(run, {
    argv: [
      tools.program("psql"),
      "--no-psqlrc",
      "--quiet",
      "--no-password",
      // What `select setval(…)` and the like answer is of no use.
      "--output=/dev/null",
      "--set=ON_ERROR_STOP=1",
      `--dbname=${patience}`,
    ],
    input: streamOf(linesOf(script), () => undefined, { isOneByOne: true }),
    release: giveBackPiece,
    onErrorLine(line) {
      const warning = /^(?:psql:<stdin>:\d+: )?WARNING: +(.*)$/.exec(line)?.[1];
      // The archive's own BEGIN, within ours.
      const isOurs = warning === "there is already a transaction in progress";
      if (warning !== undefined && !isOurs) say(`Warning: ${warning}`);
    },
    signal,
  });
  if (end.exitCode === 0 && end.stdout.includes(endMark)) return;
  const why = whyNot(lastWords(end), lockWaitMs);
  throw new SourceError(
    isRehearsal ? `The backup cannot be restored: ${why}` : `${target.name} is unchanged: ${why}`,
  );
}

function whyNot(words: string, lockWaitMs: number): string {
  if (words.includes("lock timeout"))
    return `another session held one of its tables for more than ${lockWaitMs / 1000} seconds. Stop what works with the database, and restore again.`;
  // Not restored without owners instead: the objects would quietly belong to somebody else afterwards.
  if (/must be (?:member of|able to SET|owner of) /i.test(words))
    return `something belongs to another role, and the account may neither replace it nor give it back. Make the account a member of that role with GRANT, or restore as a superuser. (${words})`;
  if (/role ".*" does not exist/.test(words))
    return `the backup names a role that this server does not have. Create it with CREATE ROLE, and restore again. (${words})`;
  if (words.includes("max_locks_per_transaction"))
    return `it has more objects than the server can lock at once. Raise max_locks_per_transaction in postgresql.conf, restart PostgreSQL, and restore again. (${words})`;
  return words;
}

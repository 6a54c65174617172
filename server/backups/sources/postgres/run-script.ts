// Restores an archive within a script: pg_restore writes the archive as SQL directly into psql, on the machine that runs the tools.
import type { Readable } from "node:stream";
import { givenFile } from "../../../hosts/given-file.ts";
import type { Host } from "../../../hosts/host.ts";
import { brokenPipeCode, endInWords, signalCodes } from "../../../hosts/end-in-words.ts";
import { pipelineEnds, pipelineOf } from "../../../hosts/shell-pipeline.ts";
import { giveBackPiece } from "../../../piece-memory.ts";
import { unpackCommand } from "../compress-there.ts";
import { SourceError, type Attempt } from "../source.ts";
import type { Archive } from "./archive.ts";
import { patience, runTool, type Target } from "./connection.ts";
import { lastWords, type Tools } from "./tools.ts";

export type Backup = { tools: Tools; archive: Archive };

type Run = {
  /** The machine that runs the tools. */
  host: Host;
  backup: Backup;
  target: Target;
  applicationName: string;
  lockWaitMs: number;
  isRehearsal: boolean;
};

type Script = {
  /** SQL that begins the transaction. */
  start: string;
  /** The archive's stream, or its head. */
  input: Readable;
  /** Lines of the entries to restore; null = everything. */
  list: string[] | null;
  /** Further arguments of pg_restore. */
  more: string[];
  /** SQL that commits; absent = pg_restore writes `COMMIT` itself, as its last statement. */
  end?: string;
  /** Major version of the server. */
  serverMajor: number;
};

/** Printed once everything before it has succeeded, including the commit. */
const endMark = "quarterdeck: restored";

/** Runs pg_restore, and writes the end of the script only if it succeeded, so that nothing is committed otherwise. */
const withEnd = `"$@" && cat ${givenFile(1)}`;

/** The last setting that pg_restore writes, and the maximum number of lines in which it is looked for. */
const lastSetting = "SET check_function_bodies";
const settingLines = 100;

/**
 * Runs psql on the start of the script, then on its own input. It leaves out the settings `$1`, `$2` and `$3` at the beginning of
 * the input: `read` takes one byte at a time from a pipe, so that psql reads on where it ended. The `sh` of macOS,
 * bash 3.2, takes the `)` of a pattern for the end of `$(` unless the pattern begins with `(`.
 */
const withFittingSettings = `settings=$(
  n=0
  while [ $n -lt ${settingLines} ] && { IFS= read -r line || [ -n "$line" ]; }; do
    n=$((n+1))
    case $line in ("$1"|"$2"|"$3") ;; (*) printf '%s\\n' "$line" ;; esac
    case $line in ('${lastSetting}'*) break ;; esac
  done
)
shift 3
exec "$@" --file=${givenFile(0)} --file=/dev/fd/3 --file=- 3<<end
$settings
end`;

/** Settings of pg_restore that must not replace those of the script's start. */
const ownSettings = [
  "SET lock_timeout = 0;",
  "SELECT pg_catalog.set_config('search_path', '', false);",
] as const;
/** pg_restore 17 and newer write it for every server, but older servers refuse it. */
const newSetting = { text: "SET transaction_timeout = 0;", sinceMajor: 17 };

/**
 * Returns the command that runs the start of the script, then its own input without what the server must not get.
 * @param psql with its arguments but for those that name the files
 */
export const loading = (psql: readonly string[], serverMajor: number) =>
  [
    "sh",
    "-c",
    withFittingSettings,
    "sh",
    ...ownSettings,
    serverMajor < newSetting.sinceMajor ? newSetting.text : ownSettings[0],
    ...psql,
  ] as const;

/**
 * Runs the script in one transaction.
 * @throws SourceError, the input's error, or the signal's reason; nothing is committed then, unless an abort came after the commit
 */
export async function runScript(
  run: Run,
  { start, input, list, more, end, serverMajor }: Script,
  { say, signal }: Pick<Attempt, "say" | "signal">,
): Promise<void> {
  const { backup, target, lockWaitMs, isRehearsal } = run;
  const { tools, archive } = backup;
  const restoring = [
    tools.program("pg_restore"),
    // With this option, pg_restore writes `COMMIT` only at its end, and not after large objects as well.
    ...(end === undefined ? ["--single-transaction"] : []),
    // Subscriptions would begin to replicate into what was just restored.
    "--no-subscriptions",
    "--file=-",
    ...(list === null ? [] : [`--use-list=${givenFile(2)}`]),
    ...more,
  ];
  const psql = [
    tools.program("psql"),
    "--no-psqlrc",
    "--quiet",
    "--no-password",
    // Results such as those of `select setval(…)` are not needed.
    "--output=/dev/null",
    "--set=ON_ERROR_STOP=1",
    `--dbname=${patience}`,
  ];
  const stages = [["sh", "-c", withEnd, "sh", ...restoring], loading(psql, serverMajor)] as const;
  // Collected separately, because warnings of psql can exceed what is kept of the error stream.
  const ofRestoring: string[] = [];
  const done = await runTool(run, {
    argv: archive.isPacked ? pipelineOf(unpackCommand, ...stages) : pipelineOf(...stages),
    given: [
      start,
      `${end ?? ""}\\echo ${endMark}\n`,
      ...(list === null ? [] : [`${list.join("\n")}\n`]),
    ],
    input,
    // Pieces of the head are read again.
    ...(input === archive.stream && { release: giveBackPiece }),
    onErrorLine(line) {
      if (isOfRestoring(line) || line === withoutMemory) ofRestoring.push(line);
      const warning = /^(?:psql:[^:]+:\d+: )?WARNING: +(.*)$/.exec(line)?.[1];
      // The archive's own BEGIN, within ours.
      const isOurs = warning === "there is already a transaction in progress";
      if (warning !== undefined && !isOurs) say(`Warning: ${warning}`);
    },
    signal,
  });
  const [restored = null, loaded = null] = pipelineEnds(done.stderr)?.slice(-stages.length) ?? [];
  if (loaded === 0 && done.stdout.includes(endMark)) return;
  // If psql has ended, pg_restore only reports that its output is closed, or is ended by SIGPIPE without a message.
  const isCutOff = restored === brokenPipeCode || /: Broken pipe$/m.test(done.stderr);
  if (restored !== null && restored !== 0 && !isCutOff) {
    const words = lastWords({ ...done, stderr: ofRestoring.join("\n"), exitCode: restored });
    throw new SourceError(`The backup could not be read: pg_restore says: ${words}`);
  }
  const ofLoading = done.stderr.split("\n").filter((line) => !isOfRestoring(line));
  const words =
    loaded !== null && loaded > signalCodes
      ? `psql ${endInWords({ exitCode: loaded, signal: null })}`
      : lastWords({ ...done, stderr: ofLoading.join("\n"), exitCode: loaded });
  const why = whyNot(words, lockWaitMs);
  throw new SourceError(
    isRehearsal ? `The backup cannot be restored: ${why}` : `${target.name} is unchanged: ${why}`,
  );
}

/** Whether a line of the error stream comes from zstd or pg_restore instead of psql or the server. */
const isOfRestoring = (line: string): boolean => /^(?:zstd|pg_restore): /.test(line);

/** PostgreSQL's tools write this message without their name. */
const withoutMemory = "out of memory";

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

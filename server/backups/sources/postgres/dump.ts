// Dumps a database by pg_dump, and meanwhile counts its rows in the same snapshot.
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import {
  inWords,
  patience,
  serverVersion,
  withClient,
  type Target,
  runTool,
} from "./connection.ts";
import { placeOf } from "../../../postgres/address.ts";
import { countRows, listTables } from "./count.ts";
import type { Command, Host } from "../../../hosts/host.ts";
import { brokenPipeCode } from "../../../hosts/end-in-words.ts";
import { isPipelineEnd, pipelineEnds, pipelineOf } from "../../../hosts/shell-pipeline.ts";
import { compressCommand } from "../compress-there.ts";
import { lastWords, toolsToDump, type Installations, type Tools } from "./tools.ts";
import { writeTo } from "../../../write-to.ts";
import { SourceError, type Attempt, type Manifest } from "../source.ts";
import { toError } from "../../../to-error.ts";

/**
 * Counts in one process: parallel workers take a tenth more CPU time and all CPUs of a server that also serves a site, only to
 * finish long before the dump. PostgreSQL before 9.6 has no such setting.
 */
const countAlone =
  "select set_config(name, '0', true) from pg_catalog.pg_settings where name = 'max_parallel_workers_per_gather'";

type DumpOptions = {
  installations: Promise<Installations>;
  /** Whether the source's machine compresses the dump by its own zstd, instead of the service. */
  isCompressed: boolean;
};

/** How long a table that another session holds is waited for. */
const lockWaitMs = 60_000;

export async function dumpDatabase(
  host: Host,
  target: Target,
  into: Writable,
  attempt: Attempt,
  { installations, isCompressed }: DumpOptions,
): Promise<Manifest> {
  const { signal } = attempt;
  try {
    const counted = await dumpContent(host, target, attempt, {
      installations,
      toCommand: (dump) => (isCompressed ? pipelineOf(dump, compressCommand(attempt)) : dump),
      isPipeline: isCompressed,
      // `into` is not ended here: that pg_dump closed its output does not mean that it ended well.
      take: (piece) => writeTo(into, piece),
    });
    into.end();
    await finished(into, { readable: false });
    return { kind: "database", ...counted };
  } catch (error) {
    const cause = signal.aborted ? toError(signal.reason) : inWords(target, error);
    into.destroy(cause);
    throw cause;
  }
}

type Argv = Command["argv"];

type ContentOptions = Pick<DumpOptions, "installations"> & {
  /** Returns the command that runs pg_dump, e.g. in a pipeline. */
  toCommand(dump: Argv): Argv;
  /** Whether that command is a pipeline of `pipelineOf`. */
  isPipeline?: boolean;
  /** As in `Command`. */
  take(piece: Buffer): Promise<void>;
};

/** @returns the rows by table, counted in the dump's own snapshot. @throws SourceError, the error of `take`, or the signal's reason */
export async function dumpContent(
  host: Host,
  target: Target,
  attempt: Attempt,
  { installations, ...output }: ContentOptions,
): Promise<Counted> {
  const applicationName = `quarterdeck backup ${attempt.id}`;
  const { tools: installed } = await installations;
  return withClient(target, { applicationName, signal: attempt.signal }, async (client) => {
    const tools = toolsToDump(installed, await serverVersion(client));
    await client.query("begin isolation level repeatable read read only");
    // Policies would silently hide rows. When this is off, queries fail instead; pg_dump sets the same.
    await client.query("set local row_security = off");
    const { rows } = await client.query<{ id: string }>("select pg_export_snapshot() as id");
    const snapshot = rows[0]?.id;
    if (snapshot === undefined) throw new Error("pg_export_snapshot() answered nothing.");
    const listed = await listTables(client);
    await client.query(`set local lock_timeout = ${lockWaitMs}`);
    // All at once, as pg_dump does: a table that is truncated before it is counted would count as empty.
    if (listed.length > 0)
      await client.query(
        `lock table only ${listed.map(({ quoted }) => quoted).join(", only ")} in access share mode`,
      );
    await client.query(countAlone);
    return dumpWhile({ host, target, tools, snapshot, applicationName, ...output }, attempt, () =>
      countRows(client, listed),
    );
  });
}

type Run = Omit<ContentOptions, "installations"> & {
  host: Host;
  target: Target;
  tools: Tools;
  snapshot: string;
  applicationName: string;
};

type Counted = Awaited<ReturnType<typeof countRows>>;

/** Runs pg_dump and `count` side by side; the first of them that fails ends both. */
async function dumpWhile(
  run: Run,
  attempt: Attempt,
  count: () => Promise<Counted>,
): Promise<Counted> {
  const failing = new AbortController();
  const whole = { ...attempt, signal: AbortSignal.any([attempt.signal, failing.signal]) };
  const orStop = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      failing.abort(error);
      throw error;
    }
  };
  const dumping = orStop(runDump(run, whole));
  const counting = orStop(count());
  // A dump that failed must not wait until a long count has ended.
  const stopped = new Promise<never>((_, reject) =>
    whole.signal.addEventListener("abort", () => reject(toError(whole.signal.reason)), {
      once: true,
    }),
  );
  stopped.catch(() => undefined);
  counting.catch(() => undefined);
  try {
    const [counts] = await Promise.all([Promise.race([counting, stopped]), dumping]);
    return counts;
  } finally {
    await dumping.catch(() => undefined);
  }
}

async function runDump(run: Run, { say, signal }: Attempt): Promise<void> {
  const { target, tools, snapshot, toCommand, isPipeline = false, take } = run;
  const dump = [
    tools.program("pg_dump"),
    "--format=custom",
    // The dump is compressed afterwards, better than by pg_dump and the same way for all kinds of sources.
    "--compress=0",
    "--no-password",
    `--lock-wait-timeout=${lockWaitMs}`,
    `--snapshot=${snapshot}`,
    `--dbname=${patience}`,
  ] as const;
  const end = await runTool(run, {
    argv: toCommand(dump),
    take,
    onErrorLine(line) {
      if (!isPipelineEnd(line) && !/: (?:error|fatal):/i.test(line)) say(line);
    },
    signal,
  });
  const ends = isPipeline ? pipelineEnds(end.stderr) : [end.exitCode];
  if (ends?.every((code) => code === 0) === true) return;
  const [dumped = end.exitCode, compressed = 0] = ends ?? [];
  // If zstd has ended, pg_dump is ended by SIGPIPE, or only reports that its output is closed.
  const isOfZstd =
    compressed !== 0 &&
    (dumped === 0 || dumped === brokenPipeCode || /: Broken pipe$/m.test(end.stderr));
  const words = lastWords({ ...end, exitCode: isOfZstd ? compressed : dumped });
  throw new SourceError(
    // The snapshot ends with the connection that exported it.
    words.includes("invalid snapshot identifier")
      ? `${target.name}: the connection to PostgreSQL at ${placeOf(target)} was lost before pg_dump began. Run the backup again.`
      : `${target.name}: ${isOfZstd ? "zstd" : "pg_dump"} failed: ${words}`,
  );
}

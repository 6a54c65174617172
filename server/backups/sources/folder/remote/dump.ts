// Dumps a folder of another machine: `find` lists the entries, and tar reads them, both as the site's account.
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { endInWords, isKilled } from "../../../../hosts/end-in-words.ts";
import type { Host } from "../../../../hosts/host.ts";
import { isPipelineEnd, pipelineEnds, pipelineOf } from "../../../../hosts/shell-pipeline.ts";
import type { ArchiveSummary, createArchiveInspector } from "../archive.ts";
import { createChanges, inWords, sortLine, type Changes } from "../dump.ts";
import { findArguments } from "../excludes.ts";
import { createRewriter } from "../rewrite.ts";
import { createArguments, createTally, tarEnvironment, type Tally } from "../tar.ts";
import { compressCommand } from "../../compress-there.ts";
import { SourceError, type Attempt, type Excludes, type Manifest } from "../../source.ts";
import { writeTo } from "../../../../write-to.ts";
import { findCaches } from "./carry.ts";
import { createSiteDatabasesThere } from "./databases.ts";
import type { Survey } from "./survey.ts";

export type Inspector = Pick<ReturnType<typeof createArchiveInspector>, "inspect">;

/**
 * @param inspector gets the archive, too; null = the archive is compressed by the machine's own zstd, and inspected when it is
 *   decompressed. SQLite databases are replaced only in an uncompressed archive
 * @returns builds the manifest from the summary of the archive
 * @throws SourceError, an abort, or the error of `into`; `into` is destroyed then
 */
export async function dumpThere(
  host: Host,
  {
    real: root,
    hasSqlite,
    excludes,
  }: Pick<Survey, "real" | "hasSqlite"> & { excludes: Excludes | null },
  inspector: Inspector | null,
  into: Writable,
  attempt: Attempt,
): Promise<(archive: ArchiveSummary | null) => Manifest> {
  const { signal } = attempt;
  const tally = createTally(attempt.say);
  const changes = createChanges(tally);
  const databases =
    inspector === null || !hasSqlite
      ? null
      : createSiteDatabasesThere(host, root, attempt, (line) =>
          tally.tell("about SQLite databases", line),
        );
  const pass = async (piece: Buffer) => {
    inspector?.inspect(piece);
    await writeTo(into, piece);
  };
  const rewriter = databases === null ? null : createRewriter(databases, pass);
  try {
    const caches = await findCaches(host, root, excludes, signal);
    const archive = pipelineOf(
      findArguments(root, excludes, caches, "kept"),
      createArguments(root),
      ...(inspector === null ? [compressCommand(attempt)] : []),
    );
    const end = await host.run({
      argv: ["sh", "-c", whileTheSame, "sh", root, ...archive],
      environment: tarEnvironment,
      take: rewriter?.take ?? pass,
      onErrorLine(line) {
        if (!isPipelineEnd(line)) sortThere(line, tally, changes);
      },
      signal,
    });
    await rewriter?.end();
    changes.tell(databases?.copied ?? new Set());
    tally.sum();
    refuseFailures(root, pipelineEnds(end.stderr), tally, changes.hasVanished());
    if (end.exitCode === replacedCode)
      throw new SourceError(
        `${root} was replaced by another folder while it was read. Run the backup again.`,
      );
    into.end();
    await finished(into, { readable: false });
    return (archive) => {
      if (archive?.isWhole !== true)
        throw new SourceError(`tar ended without finishing the archive of ${root}.`);
      const { isWhole: _, ...counts } = archive;
      return {
        kind: "folder",
        ...counts,
        ...(excludes !== null && { excluded: excludes }),
        ...(hasSqlite && { databases: databases?.found ?? [] }),
      };
    };
  } catch (error) {
    const cause = inWords(error);
    await databases?.clear();
    into.destroy(cause);
    throw cause;
  }
}

const replacedCode = 3;

/** Shell script: runs the command after `$1`, and exits with `replacedCode` where `$1` is another folder afterwards. */
const whileTheSame = `r=$1; shift; i=$(stat -c %d:%i -- "$r") || exit 1; "$@"
[ "$(stat -c %d:%i -- "$r" 2>/dev/null)" = "$i" ] || exit ${replacedCode}`;

function sortThere(line: string, tally: Tally, changes: Changes): void {
  // A folder vanished after its name was read.
  const name = /^find: '(.*)': No such file or directory$/.exec(line)?.[1];
  if (name === undefined)
    return sortLine(line.replace(/^find: |(?<=^tar: )\.\//, ""), tally, changes);
  const told = `${name} vanished while the folder was read.`;
  changes.add({ kind: "that vanished", name, line: told });
}

function refuseFailures(
  root: string,
  ends: number[] | null,
  tally: Tally,
  hasVanished: boolean,
): void {
  const notWhole = (reason: string) =>
    new SourceError(`The archive of ${root} isn't whole: ${reason}`);
  const programs = (ends ?? []).map((exitCode, index) => ({
    name: ["find", "tar", "zstd"][index],
    exitCode,
    signal: null,
  }));
  // Before the messages: of a program that was killed, the shell says only that, and the others miss it.
  const killed = programs.find(isKilled);
  if (killed !== undefined) throw notWhole(`${killed.name} ${endInWords(killed)}`);
  if (tally.hasFailed())
    throw new SourceError(
      `Not everything in ${root} could be read, so the backup would be incomplete: ${tally.failureText()}`,
    );
  if (ends === null) throw notWhole("the connection or the shell ended first.");
  const [find, tar, zstd = 0] = ends;
  // Both fail where a name has vanished. 1 of tar means that something changed while it was read.
  const isFine =
    (find === 0 || (find === 1 && hasVanished)) &&
    (tar === 0 || tar === 1 || (tar === 2 && hasVanished)) &&
    zstd === 0;
  if (!isFine)
    throw notWhole(
      programs
        .filter(({ exitCode }) => exitCode !== 0)
        .map((program) => `${program.name} ${endInWords(program)}`)
        .join(" "),
    );
}

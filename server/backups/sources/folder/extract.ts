// Takes an archive apart into a folder, and says what it held.
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { accountName } from "../../../hosts/account.ts";
import { CommandMissing, type CommandEnd, type Host } from "../../../hosts/host.ts";
import { isPipelineEnd, pipelineEnds, pipelineOf } from "../../../hosts/shell-pipeline.ts";
import { giveBackPiece } from "../../../piece-memory.ts";
import { unpackCommand } from "../compress-there.ts";
import type { Carry } from "./carry.ts";
import { createArchiveInspector, type ArchiveEntry, type ArchiveSummary } from "./archive.ts";
import { inWords } from "./dump.ts";
import { createTally, extractArguments, judge, tarEnvironment } from "./tar.ts";
import { SourceError, type Attempt } from "../source.ts";

const linkWithoutFile = /: Cannot hard link to '[^]*': No such file or directory$/;

const foreign = "that belonged to another account";

/** @throws SourceError unless everything in the archive was written, and all of `from` was read */
export type Extract = (
  host: Host,
  from: Readable,
  folder: string,
  attempt: Attempt,
) => Promise<unknown>;

/** Of the folder that a restore makes beside the one that it replaces. */
export type Filling = {
  extract: Extract;
  /** For what the backup left out. */
  carry: Carry | null;
};

/** What of an archive is extracted. */
type Picked = {
  /** Arguments of tar. Whoever names something looks whether it came: one that is not in the archive is no failure. */
  names: readonly string[];
  /** Called with each entry of the archive, also with those that are not extracted. */
  onEntry?: (entry: ArchiveEntry) => void;
  /** Links to files that are not extracted are left out, and no failure. */
  isWithoutLinks?: boolean;
};

/**
 * @param picked left out: all of it
 * @throws SourceError unless everything in the archive was written, up to the archive's end mark
 */
export async function extractArchive(
  host: Host,
  from: Readable,
  folder: string,
  attempt: Attempt,
  picked: Picked = { names: [] },
): Promise<ArchiveSummary> {
  const inspector = createArchiveInspector(picked.onEntry);
  const { signal } = attempt;
  // Its failure reaches tar's input, and with it the run below.
  const passing = pipeline(from, inspector.stream, { signal }).catch(() => undefined);
  try {
    await runTar(host, { folder, picked }, attempt, async (tar, onErrorLine) => {
      const { stream: input } = inspector;
      const end = await host.run({
        argv: toTheEnd(tar),
        environment: tarEnvironment,
        input,
        onErrorLine,
        signal,
      });
      if (end.exitCode === missingCode) throw new CommandMissing("it is not installed");
      return end;
    });
    const summary = inspector.summary();
    if (!summary.isWhole || !from.readableEnded)
      throw new SourceError("The archive could not be extracted: it is cut off or damaged.");
    return summary;
  } finally {
    inspector.stream.destroy();
    from.destroy();
    await passing;
  }
}

/**
 * The same, of an archive that zstd has compressed, unpacked by the machine itself. It is not inspected: who compares it
 * with what was stored knows that it is whole.
 */
export async function extractPacked(
  host: Host,
  from: Readable,
  folder: string,
  attempt: Attempt,
): Promise<void> {
  const { signal } = attempt;
  try {
    await runTar(host, { folder }, attempt, async (tar, onErrorLine) => {
      const end = await host.run({
        argv: pipelineOf(unpackCommand, toTheEnd(tar)),
        environment: tarEnvironment,
        input: from,
        release: giveBackPiece,
        onErrorLine: (line) => isPipelineEnd(line) || onErrorLine(line),
        signal,
      });
      const [unpacked, extracted = null] = pipelineEnds(end.stderr) ?? [];
      if (extracted === missingCode) throw new CommandMissing("it is not installed");
      // It ends well only after the end of its input, which no input has that breaks off.
      if (extracted === 0 && unpacked !== 0)
        throw new SourceError(
          `The archive could not be extracted: zstd ended with ${unpacked ?? end.signal}.`,
        );
      return { exitCode: unpacked === 0 ? extracted : 1, signal: end.signal };
    });
  } finally {
    from.destroy();
  }
}

/** Of a shell, for a program that it does not find. */
const missingCode = 127;

type Argv = [string, ...string[]];

/**
 * tar ends at the archive's end mark. What comes after it is read as well: whether the input breaks off shows at its end, and a
 * program that writes into a pipe that nobody reads is ended by SIGPIPE.
 */
const toTheEnd = (tar: Argv): Argv => [
  "sh",
  "-c",
  '"$@"; code=$?; case $code in 0|2) cat >/dev/null; esac; exit $code',
  "sh",
  ...tar,
];

type RunTar = (
  argv: Argv,
  onErrorLine: (line: string) => void,
) => Promise<Pick<CommandEnd, "exitCode" | "signal">>;

async function runTar(
  host: Host,
  {
    folder,
    picked: { names, isWithoutLinks = false } = { names: [] },
  }: {
    folder: string;
    picked?: Picked;
  },
  attempt: Attempt,
  run: RunTar,
): Promise<void> {
  const tally = createTally(attempt.say);
  const isRoot = host.account.uid === 0;
  let isAbsent = false;
  try {
    const { exitCode, signal } = await run(
      [...extractArguments(folder, isRoot), ...names],
      (line) => {
        const { verdict, text } = judge(line);
        // Nothing else works in the folder: what would be a change while reading is an error here.
        if (names.length > 0 && text.endsWith(": Not found in archive")) isAbsent = true;
        else if (isWithoutLinks && linkWithoutFile.test(text)) isAbsent = true;
        else if (verdict === "note") tally.tell("notes", text);
        else if (verdict === "owner" && !isRoot)
          tally.tell(
            foreign,
            `${text.replace(/: Cannot .*$/, "")} now belongs to ${accountName(host.account)}.`,
          );
        else if (verdict !== "noise") tally.fail(text);
      },
    );
    tally.sum();
    // 2 is an error, but so it calls an owner that an account may not give a file to.
    const isFine = exitCode === 0 || (exitCode === 2 && (isAbsent || tally.has(foreign)));
    if (!isFine || tally.hasFailed())
      throw new SourceError(
        `The archive could not be extracted: ${tally.hasFailed() ? tally.failureText() : `tar ended with ${signal ?? exitCode}.`}`,
      );
  } catch (error) {
    attempt.signal.throwIfAborted();
    throw inWords(error);
  }
}

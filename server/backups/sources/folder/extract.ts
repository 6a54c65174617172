// Extracts an archive into a folder by tar, and summarizes its entries.
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { accountName } from "../../../hosts/account.ts";
import { endInWords, isKilled } from "../../../hosts/end-in-words.ts";
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

/** How a restore fills the folder that replaces the current one. */
export type Filling = {
  extract: Extract;
  /** Keeps what the backup excluded; null = nothing was excluded. */
  carry: Carry | null;
};

/** Which entries of an archive are extracted. */
type Picked = {
  /** Arguments of tar. A name that is not in the archive is no failure: the caller has to check that it was extracted. */
  names: readonly string[];
  /** Called with each entry of the archive, including those that are not extracted. */
  onEntry?: (entry: ArchiveEntry) => void;
  /** Whether hard links to files that are not extracted are skipped instead of a failure. */
  isWithoutLinks?: boolean;
};

/**
 * @param picked absent = everything
 * @throws SourceError unless everything in the archive was extracted, up to the archive's end mark
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
  // Its failure ends tar's input, and with that the run below.
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
 * Like `extractArchive`, for an archive compressed by zstd, which the machine itself decompresses. It is not inspected: the caller
 * verifies the stored file, and with it that the archive is complete.
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
      const [unpacked = null, extracted = null] = pipelineEnds(end.stderr) ?? [];
      const unpacking = { exitCode: unpacked, signal: end.signal };
      if (extracted === missingCode) throw new CommandMissing("it is not installed");
      // zstd succeeds only after the end of its input, which truncated input does not have. If it is killed, tar misses the end.
      if ((extracted === 0 && unpacked !== 0) || isKilled(unpacking))
        throw new SourceError(`The archive could not be extracted: zstd ${endInWords(unpacking)}`);
      const extracting = { exitCode: extracted, signal: end.signal };
      // If tar is killed, zstd fails, too.
      return unpacked === 0 || isKilled(extracting) ? extracting : { ...extracting, exitCode: 1 };
    });
  } finally {
    from.destroy();
  }
}

/** Exit code of a shell for a program that it does not find. */
const missingCode = 127;

type Argv = [string, ...string[]];

/**
 * tar stops at the archive's end mark. The rest is read as well: truncated input shows only at its end, and a program that writes into
 * a closed pipe is ended by SIGPIPE.
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
        // Nothing else uses the folder, so that what would be a change during a dump is an error here.
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
    // 2 is an error, which tar also reports where the account may not set the owner of a file.
    const isFine = exitCode === 0 || (exitCode === 2 && (isAbsent || tally.has(foreign)));
    // Of a tar that was killed, the shell says only that.
    const isUntold = isKilled({ signal, exitCode }) || !tally.hasFailed();
    if (!isFine || tally.hasFailed())
      throw new SourceError(
        `The archive could not be extracted: ${isUntold ? `tar ${endInWords({ signal, exitCode })}` : tally.failureText()}`,
      );
  } catch (error) {
    attempt.signal.throwIfAborted();
    throw inWords(error);
  }
}

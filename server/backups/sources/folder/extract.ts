// Takes an archive apart into a folder, and says what it held.
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { accountName } from "../../../hosts/account.ts";
import type { Host } from "../../../hosts/host.ts";
import { createArchiveInspector, type ArchiveSummary } from "./archive.ts";
import { inWords } from "./dump.ts";
import { createTally, extractArguments, judge, tarEnvironment } from "./tar.ts";
import { SourceError, type Attempt } from "../source.ts";

const foreign = "that belonged to another account";

/** @throws SourceError unless everything in the archive was written, up to the archive's end mark */
export async function extractArchive(
  host: Host,
  from: Readable,
  folder: string,
  attempt: Attempt,
): Promise<ArchiveSummary> {
  const tally = createTally(attempt.say);
  const inspector = createArchiveInspector();
  const { signal: abort } = attempt;
  const isRoot = host.account.uid === 0;
  // Its failure reaches tar's input, and with it the run below.
  const passing = pipeline(from, inspector.stream, { signal: abort }).catch(() => undefined);
  try {
    const { exitCode, signal } = await host.run({
      argv: extractArguments(folder, isRoot),
      environment: tarEnvironment,
      input: inspector.stream,
      onErrorLine(line) {
        const { verdict, text } = judge(line);
        // Nothing else works in the folder: what would be a change while reading is an error here.
        if (verdict === "note") tally.tell("notes", text);
        else if (verdict === "owner" && !isRoot)
          tally.tell(
            foreign,
            `${text.replace(/: Cannot .*$/, "")} now belongs to ${accountName(host.account)}.`,
          );
        else if (verdict !== "noise") tally.fail(text);
      },
      signal: abort,
    });
    tally.sum();
    // 2 is an error, but so it calls an owner that an account may not give a file to.
    const isFine = exitCode === 0 || (exitCode === 2 && tally.has(foreign));
    if (!isFine || tally.hasFailed())
      throw new SourceError(
        `The archive could not be extracted: ${tally.hasFailed() ? tally.failureText() : `tar ended with ${signal ?? exitCode}.`}`,
      );
    const summary = inspector.summary();
    if (!summary.isWhole)
      throw new SourceError("The archive could not be extracted: it is cut off or damaged.");
    return summary;
  } catch (error) {
    abort.throwIfAborted();
    throw inWords(error);
  } finally {
    inspector.stream.destroy();
    from.destroy();
    await passing;
  }
}

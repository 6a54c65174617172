// Takes an archive apart into a folder, and says what it held.
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Host } from "../../hosts/host.ts";
import { createArchiveInspector, type ArchiveSummary } from "./folder-archive.ts";
import { inWords } from "./folder-dump.ts";
import { createTally, extractArguments, judge, tarEnvironment } from "./folder-tar.ts";
import { SourceError, type Attempt } from "./source.ts";

/** @throws SourceError unless everything in the archive was written, up to the archive's end mark */
export async function extractArchive(
  { host, isRoot }: { host: Host; isRoot: boolean },
  from: Readable,
  folder: string,
  attempt: Attempt,
): Promise<ArchiveSummary> {
  const tally = createTally(attempt.say);
  const inspector = createArchiveInspector();
  const { signal: abort } = attempt;
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
        else if (verdict !== "noise") tally.fail(text);
      },
      signal: abort,
    });
    tally.sum();
    if (exitCode !== 0 || tally.hasFailed())
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

// Writes a folder into a stream: our own walk names the entries, tar reads them.
import { stat } from "node:fs/promises";
import { Readable, type Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { CommandMissing, type Host } from "../../hosts/host.ts";
import { createArchiveInspector } from "./folder-archive.ts";
import {
  createArguments,
  createTally,
  judge,
  tarEnvironment,
  tarMissing,
  type Tally,
} from "./folder-tar.ts";
import { showName, walkFolder } from "./folder-walk.ts";
import { SourceError, type Attempt, type Manifest } from "./source.ts";
import { writeTo } from "./write-to.ts";

/** Names that wait for tar. */
const waitingBytes = 16 * 1024;

/** @param root its real path @throws SourceError, an abort, or the error of `into`; `into` is destroyed then */
export async function dumpFolder(
  host: Host,
  root: string,
  into: Writable,
  attempt: Attempt,
): Promise<Manifest> {
  const tally = createTally(attempt.say);
  const inspector = createArchiveInspector();
  try {
    const before = await identityOf(root);
    const ending = await host.run({
      argv: createArguments(root),
      environment: tarEnvironment,
      input: Readable.from(namesOf(root, tally), {
        objectMode: false,
        highWaterMark: waitingBytes,
      }),
      // `into` is ended below: tar closes its output as calmly after a failure.
      async take(piece) {
        inspector.inspect(piece);
        await writeTo(into, piece);
      },
      onErrorLine: (line) => sortLine(line, tally),
      signal: attempt.signal,
    });
    tally.sum();
    refuseFailures(root, ending, tally);
    if ((await identityOf(root)) !== before)
      throw new SourceError(
        `${root} was replaced by another folder while it was read. Run the backup again.`,
      );
    const { isWhole, ...counts } = inspector.summary();
    if (!isWhole) throw new SourceError(`tar ended without finishing the archive of ${root}.`);
    into.end();
    await finished(into, { readable: false });
    return { kind: "folder", ...counts };
  } catch (error) {
    const told = inWords(error);
    into.destroy(told);
    throw told;
  }
}

async function* namesOf(root: string, tally: Tally): AsyncGenerator<Buffer> {
  const lots = walkFolder(root, (name, { code, message }) => {
    const shown = showName(name);
    if (code === "ENOENT" || code === "ENOTDIR")
      tally.tell("that vanished", `${shown} vanished while the folder was read.`);
    else tally.fail(`${shown}: Cannot open: ${code === "EACCES" ? "Permission denied" : message}`);
  });
  for await (const lot of lots) {
    const names: Buffer[] = [];
    for (const { name, kind } of lot) {
      if (kind === "socket" || kind === "device")
        tally.tell(`skipped (${kind}s)`, `Skipped ${showName(name)}: a ${kind} has no content.`);
      else names.push(name, endOfName);
    }
    if (names.length > 0) yield Buffer.concat(names);
  }
}

const endOfName = Buffer.from([0]);

function sortLine(line: string, tally: Tally): void {
  const { verdict, text } = judge(line);
  switch (verdict) {
    case "gone":
      return tally.tell(
        "that vanished",
        `${text.replace(/: [^:]*(?:: [^:]*)?$/, "")} vanished while the folder was read.`,
      );
    case "changed":
      return tally.tell("that changed", `${text}.`);
    case "note":
      return tally.tell("notes", text);
    case "failure":
      return tally.fail(text);
    case "noise":
  }
}

function refuseFailures(
  root: string,
  end: { exitCode: number | null; signal: string | null },
  tally: Tally,
): void {
  if (tally.hasFailed())
    throw new SourceError(
      `Not everything in ${root} could be read, so the backup would be incomplete: ${tally.failureText()}`,
    );
  // 1: something changed while it was read. 2 is an error, but so it calls a name that vanished.
  const isFine =
    end.exitCode === 0 || end.exitCode === 1 || (end.exitCode === 2 && tally.has("that vanished"));
  if (!isFine)
    throw new SourceError(`tar failed on ${root}: ${end.signal ?? `exit code ${end.exitCode}`}.`);
}

/** All names of a folder that was removed or swapped vanish alike; that must not pass for a folder that is nearly empty. */
async function identityOf(root: string): Promise<string> {
  try {
    const { dev, ino } = await stat(root);
    return `${dev}:${ino}`;
  } catch (error) {
    throw new SourceError(`${root} cannot be read: ${(error as Error).message}.`);
  }
}

export const inWords = (error: unknown): Error => {
  if (error instanceof CommandMissing) return tarMissing(error.message);
  return error instanceof Error ? error : new Error(String(error));
};

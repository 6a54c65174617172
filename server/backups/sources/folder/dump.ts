// Dumps a folder: our own walk lists the entries, and tar reads them, both as the site's account.
import { PassThrough, type Readable, type Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { endInWords } from "../../../hosts/end-in-words.ts";
import { CommandMissing, type LocalHost } from "../../../hosts/host.ts";
import { createArchiveInspector } from "./archive.ts";
import { createSiteDatabases } from "./databases.ts";
import { identifyFolder, listNames, type NameNote } from "./names.ts";
import { createRewriter } from "./rewrite.ts";
import {
  createArguments,
  createTally,
  judge,
  tarEnvironment,
  tarMissing,
  type Tally,
} from "./tar.ts";
import {
  reviveSourceError,
  SourceError,
  type Attempt,
  type Excludes,
  type Manifest,
} from "../source.ts";
import { databaseBeside } from "../sqlite/header.ts";
import { writeTo } from "../../../write-to.ts";

/** Buffer for names that wait for tar. */
const waitingBytes = 16 * 1024;

type Dumped = {
  /** Its real path. */
  root: string;
  /** The account's own, for copies of the SQLite databases in it. */
  scratchFolder: string;
  excludes: Excludes | null;
};

/**
 * @throws SourceError, an abort, or the error of `into`; `into` is destroyed then
 */
export async function dumpFolder(
  host: LocalHost,
  { root, scratchFolder, excludes }: Dumped,
  into: Writable,
  attempt: Attempt,
): Promise<Manifest> {
  const tally = createTally(attempt.say);
  const inspector = createArchiveInspector();
  const databases = createSiteDatabases(host, root, scratchFolder, attempt, (line) =>
    tally.tell("about SQLite databases", line),
  );
  const rewriter = createRewriter(databases, async (piece) => {
    inspector.inspect(piece);
    await writeTo(into, piece);
  });
  const changes = createChanges(tally);
  const names = streamNames(host, { root, excludes }, tally, changes, attempt.signal);
  // The run that reads the names reports the error.
  names.on("error", () => undefined);
  try {
    const before = await host.perform(identifyFolder, root, { signal: attempt.signal });
    const ending = await host.run({
      argv: createArguments(root),
      environment: tarEnvironment,
      input: names,
      // `into` is ended below, because tar closes its output after a failure, too.
      take: rewriter.take,
      onErrorLine: (line) => sortLine(line, tally, changes),
      signal: attempt.signal,
    });
    await rewriter.end();
    changes.tell(databases.copied);
    tally.sum();
    refuseFailures(root, ending, tally, changes);
    if ((await host.perform(identifyFolder, root, { signal: attempt.signal })) !== before)
      throw new SourceError(
        `${root} was replaced by another folder while it was read. Run the backup again.`,
      );
    const { isWhole, ...counts } = inspector.summary();
    if (!isWhole) throw new SourceError(`tar ended without finishing the archive of ${root}.`);
    into.end();
    await finished(into, { readable: false });
    return {
      kind: "folder",
      ...counts,
      ...(excludes !== null && { excluded: excludes }),
      databases: databases.found,
    };
  } catch (error) {
    const cause = inWords(error);
    names.destroy();
    await databases.clear();
    into.destroy(cause);
    throw cause;
  }
}

/** More changes than a site in use has during a backup; further ones are reported at once. */
const heldChanges = 10_000;

type Change = { kind: "that changed" | "that vanished"; name: string; line: string };

/** Collects changes of files while tar read them. Those of a database are ignored, because SQLite copied it, not tar. */
export function createChanges(tally: Tally) {
  const held: Change[] = [];
  let hasVanished = false;
  return {
    add(change: Change): void {
      hasVanished ||= change.kind === "that vanished";
      if (held.length < heldChanges) held.push(change);
      else tally.tell(change.kind, change.line);
    },
    hasVanished: () => hasVanished,
    tell(copied: ReadonlySet<string>): void {
      for (const { kind, name, line } of held)
        if (!copied.has(name) && !copied.has(databaseBeside(name) ?? "")) tally.tell(kind, line);
    },
  };
}

export type Changes = ReturnType<typeof createChanges>;

/** @returns the names for tar; a failure to list them is the stream's error */
function streamNames(
  host: LocalHost,
  listing: Pick<Dumped, "root" | "excludes">,
  tally: Tally,
  changes: Changes,
  signal: AbortSignal,
): Readable {
  const names = new PassThrough({ highWaterMark: waitingBytes });
  const say = (line: string) => {
    const note: NameNote = JSON.parse(line);
    sortNote(note, tally, changes);
  };
  host.perform(listNames, listing, { output: names, say, signal }).then(
    () => names.end(),
    (error: Error) => names.destroy(error),
  );
  return names;
}

function sortNote(note: NameNote, tally: Tally, changes: Changes): void {
  switch (note.kind) {
    case "vanished":
      return changes.add({
        kind: "that vanished",
        name: note.name,
        line: `${note.name} vanished while the folder was read.`,
      });
    case "socket":
    case "device":
      return tally.tell(
        `skipped (${note.kind}s)`,
        `Skipped ${note.name}: a ${note.kind} has no content.`,
      );
    case "excluded": {
      const more = note.entries - note.names.length;
      const shown = `${note.names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
      return tally.tell("about what is left out", `Excluded as configured: ${shown}.`);
    }
    case "closed":
      return tally.fail(`${note.name}: Cannot open: ${note.reason}`);
  }
}

export function sortLine(line: string, tally: Tally, changes: Changes): void {
  const { verdict, text } = judge(line);
  switch (verdict) {
    case "gone": {
      const name = text.replace(/: [^:]*(?:: [^:]*)?$/, "");
      const line = `${name} vanished while the folder was read.`;
      return changes.add({ kind: "that vanished", name, line });
    }
    case "changed": {
      const name = text.replace(/: file (?:changed|shrank) .*$/i, "");
      return changes.add({ kind: "that changed", name, line: `${text}.` });
    }
    case "note":
      return tally.tell("notes", text);
    case "failure":
    case "owner":
      return tally.fail(text);
    case "noise":
  }
}

function refuseFailures(
  root: string,
  end: { exitCode: number | null; signal: string | null },
  tally: Tally,
  changes: Changes,
): void {
  if (tally.hasFailed())
    throw new SourceError(
      `Not everything in ${root} could be read, so the backup would be incomplete: ${tally.failureText()}`,
    );
  // 1 means that something changed while it was read. 2 is an error, which tar also reports for a name that vanished.
  const isFine =
    end.exitCode === 0 || end.exitCode === 1 || (end.exitCode === 2 && changes.hasVanished());
  if (!isFine) throw new SourceError(`tar failed on ${root}: it ${endInWords(end)}`);
}

export const inWords = (error: unknown): Error => {
  if (error instanceof CommandMissing) return tarMissing(error.message);
  const known = reviveSourceError(error);
  return known instanceof Error ? known : new Error(String(known));
};

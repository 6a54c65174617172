// GNU tar as the folder source uses it: its arguments, and what its words mean.
import { SourceError } from "../source.ts";

/** In tar's own words, so that they can be told apart; also makes it write every name in plain ASCII. */
export const tarEnvironment = { LC_ALL: "C" };

export const createArguments = (root: string): [string, ...string[]] => [
  "tar",
  "--create",
  "--file=-",
  "--format=posix",
  // Times that no restore puts back, but that would make every archive differ.
  "--pax-option=delete=atime,delete=ctime",
  // Writes of 64 KiB, a pipe's worth: with tar's own 10 KiB the reading end has six times the work.
  "--blocking-factor=128",
  "--sparse",
  "--numeric-owner",
  "--xattrs",
  "--acls",
  // tar applies these only to names that come after them.
  `--directory=${root}`,
  "--no-recursion",
  "--null",
  "--verbatim-files-from",
  "--files-from=-",
];

/** @param isRoot nobody else may set system attributes */
export const extractArguments = (folder: string, isRoot: boolean): [string, ...string[]] => [
  "tar",
  "--extract",
  "--file=-",
  "--same-permissions",
  "--numeric-owner",
  "--xattrs",
  // An ordinary account keeps what it may: the groups that it is a member of.
  "--same-owner",
  ...(isRoot ? ["--xattrs-include=*"] : []),
  "--acls",
  // A folder that is closed to its owner can be filled only before it is closed.
  "--delay-directory-restore",
  "--warning=no-timestamp",
  `--directory=${folder}`,
];

/**
 * `gone` and `changed` are what a folder in use does; `owner` is what an account may not give away; `note` is worth
 * saying; `noise` repeats what was said before.
 */
type Verdict = "gone" | "changed" | "owner" | "note" | "noise" | "failure";

// The first that matches counts. tar writes "tar: <name>: <words>".
const verdicts: readonly { words: RegExp; verdict: Verdict }[] = [
  { words: /^Exiting with failure status|^Error exit delayed/, verdict: "noise" },
  { words: /^Error is not recoverable/, verdict: "failure" },
  { words: /: File removed before we read it$/, verdict: "gone" },
  // With a name that was given to it, tar takes this for an error: it cannot know that the name was there a moment ago.
  { words: /: Cannot (?:stat|open|readlink): No such file or directory$/, verdict: "gone" },
  // A folder above it, or it itself, became a file or a link.
  {
    words:
      /: Cannot (?:stat|open|readlink): (?:Not a directory|Too many levels of symbolic links)$/,
    verdict: "gone",
  },
  { words: /: file changed as we read it$/, verdict: "changed" },
  { words: /: File shrank by \d+ bytes?; padding with zeros$/, verdict: "changed" },
  {
    words: /: Cannot change ownership to uid \d+, gid \d+: Operation not permitted$/,
    verdict: "owner",
  },
  { words: /: socket ignored$/, verdict: "note" },
  // Of an archive that something else made; everything else of the entry is there.
  { words: /^Ignoring unknown extended header keyword /, verdict: "note" },
  // Nor has Linux attributes outside of its four namespaces, as macOS has.
  {
    words:
      /^l?setxattr(?:at)?: Cannot set '(?!(?:user|trusted|security|system)\.).*: Operation not supported$/,
    verdict: "note",
  },
  { words: /: Warning: |^Warning: |support is not available|^Removing leading /, verdict: "note" },
];

/** What a line of tar's error stream means. @returns the line without tar's name in front */
export function judge(line: string): { verdict: Verdict; text: string } {
  const text = line.replace(/^tar: /, "");
  const known = verdicts.find(({ words }) => words.test(text));
  return { verdict: known?.verdict ?? "failure", text };
}

const shownLines = 20;
const shownFailures = 5;

/** Says what tar said, but not a thousand times. */
export function createTally(say: (line: string) => void) {
  const counts = new Map<string, number>();
  const failures: string[] = [];
  let failureCount = 0;
  return {
    /** @param kind what the line is an example of, as it stands behind "… and 3 more" */
    tell(kind: string, line: string): void {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      if (count <= shownLines) say(line);
    },
    fail(text: string): void {
      // The walk and tar both stumble over the same closed folder.
      if (failures.includes(text)) return;
      failureCount += 1;
      if (failures.length < shownFailures) failures.push(text);
    },
    hasFailed: () => failureCount > 0,
    has: (kind: string) => counts.has(kind),
    /** Says how many were left out. */
    sum(): void {
      for (const [kind, count] of counts)
        if (count > shownLines) say(`… and ${count - shownLines} more ${kind}.`);
    },
    failureText(): string {
      const more =
        failureCount > failures.length ? ` and ${failureCount - failures.length} more` : "";
      return `${failures.join("; ")}${more}${fixFor(failures)}`;
    },
  };
}

export type Tally = ReturnType<typeof createTally>;

const fixes: readonly [RegExp, string][] = [
  [/Permission denied|Operation not permitted/, "Give the site's account the right to it."],
  [/No space left on device|Disk quota exceeded/, "Free some space and try again."],
  [/Unexpected EOF/, "The archive is cut off."],
  [/Input\/output error/, "Check the disk for errors."],
  [/Read-only file system/, "Mount it writable."],
  [/File name too long/, "Shorten the path: the system takes 4095 bytes."],
];

function fixFor(failures: string[]): string {
  const found = fixes.filter(([words]) => failures.some((line) => words.test(line)));
  return `.${found.map(([, fix]) => ` ${fix}`).join("")}`;
}

export const tarMissing = (reason: string): SourceError =>
  new SourceError(
    `GNU tar is needed to back up folders: ${reason}. Install it (Debian: apt-get install tar).`,
  );

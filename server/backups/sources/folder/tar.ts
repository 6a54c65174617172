// Arguments of GNU tar for the folder source, and the interpretation of its messages.
import { SourceError } from "../source.ts";

/** Untranslated messages, so that they can be recognized; also makes tar print every name in ASCII. */
export const tarEnvironment = { LC_ALL: "C" };

export const createArguments = (root: string): [string, ...string[]] => [
  "tar",
  "--create",
  "--file=-",
  "--format=posix",
  // Times that no restore sets, but that would make every archive differ.
  "--pax-option=delete=atime,delete=ctime",
  // Writes of 64 KiB, the size of a pipe: with tar's default of 10 KiB, the reader has six times the work.
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

/** @param isRoot only root may set system attributes */
export const extractArguments = (folder: string, isRoot: boolean): [string, ...string[]] => [
  "tar",
  "--extract",
  "--file=-",
  "--same-permissions",
  "--numeric-owner",
  "--xattrs",
  // An ordinary account can set only groups that it is a member of.
  "--same-owner",
  ...(isRoot ? ["--xattrs-include=*"] : []),
  "--acls",
  // A folder that is closed to its owner can be filled only before it is closed.
  "--delay-directory-restore",
  "--warning=no-timestamp",
  `--directory=${folder}`,
];

/**
 * `gone` and `changed` are normal in a folder in use; `owner`: the account may not set the owner; `note` is shown; `noise` repeats an
 * earlier message.
 */
type Verdict = "gone" | "changed" | "owner" | "note" | "noise" | "failure";

// The first match counts. tar writes "tar: <name>: <words>".
const verdicts: readonly { words: RegExp; verdict: Verdict }[] = [
  { words: /^Exiting with failure status|^Error exit delayed/, verdict: "noise" },
  { words: /^Error is not recoverable/, verdict: "failure" },
  { words: /: File removed before we read it$/, verdict: "gone" },
  // An error for tar, because it does not know that the listed name existed a moment ago.
  { words: /: Cannot (?:stat|open|readlink): No such file or directory$/, verdict: "gone" },
  // The entry or one of its parent folders became a file or a link.
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
  // In an archive of another program; everything else of the entry is extracted.
  { words: /^Ignoring unknown extended header keyword /, verdict: "note" },
  // Linux does not have attributes outside of its four namespaces, as macOS has.
  {
    words:
      /^l?setxattr(?:at)?: Cannot set '(?!(?:user|trusted|security|system)\.).*: Operation not supported$/,
    verdict: "note",
  },
  { words: /: Warning: |^Warning: |support is not available|^Removing leading /, verdict: "note" },
];

/** Classifies a line of tar's error stream. @returns the line without tar's name in front */
export function judge(line: string): { verdict: Verdict; text: string } {
  const text = line.replace(/^tar: /, "");
  const known = verdicts.find(({ words }) => words.test(text));
  return { verdict: known?.verdict ?? "failure", text };
}

const shownLines = 20;
const shownFailures = 5;

/** Reports tar's messages, with a limit for each kind. */
export function createTally(say: (line: string) => void) {
  const counts = new Map<string, number>();
  const failures: string[] = [];
  let failureCount = 0;
  return {
    /** @param kind follows "… and 3 more" in the summary */
    tell(kind: string, line: string): void {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      if (count <= shownLines) say(line);
    },
    fail(text: string): void {
      // The walk and tar both report the same closed folder.
      if (failures.includes(text)) return;
      failureCount += 1;
      if (failures.length < shownFailures) failures.push(text);
    },
    hasFailed: () => failureCount > 0,
    has: (kind: string) => counts.has(kind),
    /** Reports how many lines of each kind were not shown. */
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

// The scripts that run on a server around each command, in a POSIX shell. They arrive by standard input, so that nothing of a
// command shows in the process list before the command itself does, and its secrets never do.
import { type ExactReader, exactReaders, isHeadExact } from "../hosts/exact-input.ts";
import { quote, quoteAll } from "./quote.ts";

/**
 * Reads a script's length in bytes, then the script. A shell that reads its script from its input may also read what follows it.
 */
const readScript = (reader: ExactReader): string =>
  `take() { ${exactReaders[reader]}; };IFS= read -r n&&s=$(take "$n";echo .)&&eval "\${s%.}"`;

/** Folders of programs that may be missing from the login shell's PATH. */
const morePaths = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/** Starts a shell without the login's environment, whose variables such as PG… would mislead the tools. */
const cleanShell = (reader: ExactReader): string =>
  [
    'exec env -i HOME="$HOME" USER="$USER" LOGNAME="$LOGNAME"',
    `PATH="$PATH:${morePaths}" sh -c ${quote(readScript(reader))} sh "$1"`,
  ].join(" ");

/**
 * Returns the one argument for the login shell. Scripts find the process of their connection in `$1`.
 * @param as command that switches to another account before the shell starts; empty = none
 * @param reader any where nothing follows the script before it has begun
 */
export function loginCommand(as: readonly string[], reader: ExactReader): string {
  const start = `exec ${quoteAll([...as, "sh", "-c", cleanShell(reader), "sh"])} "$PPID"`;
  return `exec sh -c ${quote(start)}`;
}

/** Returns a script in the format that `loginCommand` reads. */
export function sendable(script: string): Buffer {
  const bytes = Buffer.from(script);
  return Buffer.concat([Buffer.from(`${bytes.length}\n`), bytes]);
}

/** Lines of the standard input that are not the length of a piece. */
export const inputEnd = "0\n";
export const heartbeat = ".\n";
export const heartbeatMs = 30_000;
const lookSeconds = 2;
/** How long a command runs on while its connection is silent. */
const silenceSeconds = 120;

/** Reads the process group, from `/proc` or else with `ps`. */
const readGroup = "read -r _ _ _ _ g _ </proc/self/stat || g=$(ps -o pgid= -p $$)";

export const startMark = (nonce: string): string => `quarterdeck ${nonce} start`;
export const endMark = (nonce: string): string => `quarterdeck ${nonce} end`;

type RemoteCommand = {
  argv: readonly string[];
  environment: Record<string, string>;
  folder: string;
};

/**
 * Returns a script that runs a command between two marks on each of its outputs. The input comes in pieces, each after its
 * length, so that the command never takes a lost connection for the end of its input: the whole process group is killed before
 * the input is closed. sshd creates a process group for each session, which contains everything that the command started, unless
 * it left.
 */
export function commandScript(nonce: string, { argv, environment, folder }: RemoteCommand): string {
  for (const name of Object.keys(environment))
    if (!/^[A-Za-z_]\w*$/.test(name)) throw new Error(`${name} is no name of a variable.`);
  const [program = ""] = argv;
  // `exec` would take the name for an option.
  if (program.startsWith("-")) throw new Error("The name of a program cannot begin with “-”.");
  return [
    `m=${quote(`quarterdeck ${nonce}`)}`,
    readGroup,
    `echo "$m start"; echo "$m start $g" >&2`,
    // The watchdog kills the group when its connection is gone or silent, but not while a piece is passed on, which the command
    // may be slow to read. Both signals are ignored before the traps are set, and the parent only gets the pid once they are.
    "w=$({",
    `  n=0; trap n=0 CONT; trap n=-999999 WINCH`,
    "  exec </dev/null >/dev/null 2>&1",
    `  while sleep ${lookSeconds}; do`,
    '    kill -0 "$1" || [ -d "/proc/$1" ] || ps -p "$1" || kill -9 0',
    `    n=$((n+1)); [ $n -lt ${silenceSeconds / lookSeconds} ] || kill -9 0`,
    "  done",
    "} & echo $!)",
    "feed() {",
    "  while IFS= read -r l; do",
    "    case $l in",
    "      .) kill -CONT $w ;;",
    "      0) exec >/dev/null ;;",
    // A command that has read enough closes its input; the rest is discarded until the end.
    '      *) kill -WINCH $w; take "$l" || { exec >/dev/null; cat; kill -9 0; }; kill -CONT $w ;;',
    "    esac",
    "  done",
    "  kill -9 0",
    "}",
    "feed 2>/dev/null | {",
    "  c=",
    `  cd -- ${quote(folder)} || c=folder`,
    `  [ "$c" ] || command -v ${quote(program)} >/dev/null || c=missing`,
    '  [ "$c" ] || {',
    "    (",
    "      unset OLDPWD; { export LC_ALL=C.UTF-8; } 2>/dev/null",
    ...Object.entries(environment).map(([name, value]) => `      export ${name}=${quote(value)}`),
    `      exec ${quoteAll(argv)}`,
    "    )",
    "    c=$?",
    "  }",
    // The end marks come last, so all output precedes them.
    `  echo "$m end"; printf '\\n%s\\n' "$m end $c" >&2`,
    "  kill -9 0",
    "}",
  ].join("\n");
}

/**
 * Returns the script of the master's own session: it prints which account it runs as and which reader is exact, then echoes the first word of each line.
 * The rest of a line is a command, whose output follows that word; commands do not wait for each other. The script ends with its
 * input, and with it the connection and all running commands, so that a killed service leaves nothing behind.
 */
export const pulseScript = (nonce: string): string =>
  [
    `m=${quote(`quarterdeck ${nonce}`)}`,
    readGroup,
    `r=dd; ${isHeadExact} && r=head`,
    'p=no; [ "$((g))" = "$$" ] && p=yes',
    'echo "$m start $(id -u) $(id -g) $p $r $(uname -s) $(id -un) $HOME"',
    "while IFS= read -r l; do",
    "  case $l in",
    // Started by a subshell that exits at once, because a shell that only reads lines never reaps its children.
    `    *" "*) ( { o=$(eval "\${l#* }"); printf '%s\\n' "$m \${l%% *} $o"; } </dev/null 2>/dev/null & ) ;;`,
    '    *) echo "$m $l" ;;',
    "  esac",
    "done",
    // Without a process group of its own the connection is not used, and killing the group would hit other processes.
    '[ "$p" = no ] || kill -9 0',
  ].join("\n");

// What runs on a server around each command, in the shell that every server has. It comes by standard input, so that
// nothing of a command shows in the process list before the command itself does, and its secrets never.
import { quote, quoteAll } from "./quote.ts";

/** Reads a script's length in bytes, then the script: a shell that reads its script by itself takes what follows as well. */
const readScript = 'IFS= read -r n&&s=$(head -c "$n";echo .)&&eval "${s%.}"';

/** Where a server keeps programs that its login shell may not look for. */
const morePaths = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/** A shell that knows nothing of the login's environment, where PG… and other variables would mislead the tools. */
const cleanShell = [
  'exec env -i HOME="$HOME" USER="$USER" LOGNAME="$LOGNAME"',
  `PATH="$PATH:${morePaths}" sh -c ${quote(readScript)} sh "$1"`,
].join(" ");

/**
 * The one argument that the login shell of the account gets. Scripts find the process of their connection in `$1`.
 * @param as what becomes another account before the shell starts; empty = nothing
 */
export function loginCommand(as: readonly string[]): string {
  const start = `exec ${quoteAll([...as, "sh", "-c", cleanShell, "sh"])} "$PPID"`;
  return `exec sh -c ${quote(start)}`;
}

/** A script as `loginCommand` reads it. */
export function sendable(script: string): Buffer {
  const bytes = Buffer.from(script);
  return Buffer.concat([Buffer.from(`${bytes.length}\n`), bytes]);
}

/** Lines of the standard input that are no length of a piece. */
export const inputEnd = "0\n";
export const heartbeat = ".\n";
export const heartbeatMs = 30_000;
const lookSeconds = 2;
/** A server whose connection is silently gone ends a command after this time. */
const silenceSeconds = 120;

/** The process group, as `/proc` or else `ps` says. */
const readGroup = "read -r _ _ _ _ g _ </proc/self/stat || g=$(ps -o pgid= -p $$)";

export const startMark = (nonce: string): string => `quarterdeck ${nonce} start`;
export const endMark = (nonce: string): string => `quarterdeck ${nonce} end`;

type RemoteCommand = {
  argv: readonly string[];
  environment: Record<string, string>;
  folder: string;
};

/**
 * Runs a command between two marks on each of its outputs. The input comes in pieces, each after its length, so that
 * the command never takes a connection that is gone for an input that ended: its whole group is killed before its input
 * is closed. sshd makes a group of each session; all that the command started is in it, unless it left.
 */
export function commandScript(nonce: string, { argv, environment, folder }: RemoteCommand): string {
  for (const name of Object.keys(environment))
    if (!/^[A-Za-z_]\w*$/.test(name)) throw new Error(`${name} is no name of a variable.`);
  const [program = ""] = argv;
  // `exec` would take it for an option.
  if (program.startsWith("-")) throw new Error("The name of a program cannot begin with “-”.");
  return [
    `m=${quote(`quarterdeck ${nonce}`)}`,
    readGroup,
    `echo "$m start"; echo "$m start $g" >&2`,
    // Ends a command whose connection is gone, or silent; not while a piece is passed on, which the command may be slow
    // to take. Both signals do nothing before the traps are set, and the pid is known once they are.
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
    // A command that has read enough closes its input: from then on only the end counts.
    '      *) kill -WINCH $w; head -c "$l" || { exec >/dev/null; cat; kill -9 0; }; kill -CONT $w ;;',
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
    // Whoever counts on the end has all that came before it.
    `  echo "$m end"; printf '\\n%s\\n' "$m end $c" >&2`,
    "  kill -9 0",
    "}",
  ].join("\n");
}

/**
 * What the master's own session runs: it says who it is, then returns the first word of each line. What follows that word
 * is a command, whose output comes behind it; none waits for another. It ends with its input, and with it the connection and
 * what a command still does, so that a service that was killed leaves nothing behind.
 */
export const pulseScript = (nonce: string): string =>
  [
    `m=${quote(`quarterdeck ${nonce}`)}`,
    readGroup,
    'p=no; [ "$((g))" = "$$" ] && p=yes',
    'echo "$m start $(id -u) $(id -g) $p $(uname -s) $(id -un) $HOME"',
    "while IFS= read -r l; do",
    "  case $l in",
    // Started by a shell that ends at once: one that only reads lines would never look after the end of its children.
    `    *" "*) ( { o=$(eval "\${l#* }"); printf '%s\\n' "$m \${l%% *} $o"; } </dev/null 2>/dev/null & ) ;;`,
    '    *) echo "$m $l" ;;',
    "  esac",
    "done",
    // Where the group is another's, the connection is not used.
    '[ "$p" = no ] || kill -9 0',
  ].join("\n");

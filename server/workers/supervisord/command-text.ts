// Quotes a command for supervisord's configuration, so that the process gets each argument and each variable byte for byte.
// Three parsers are in between. ConfigParser reads one line, drops what follows white space and `;` or `#`, and replaces
// `%(here)s` wherever it stands; Python's % operator expands the rest; shlex splits it. See http://supervisord.org/configuration.html.

/** Text without any character that is special to one of the three parsers. */
const plain = /^[\w/.,:=@+-]+$/;

/**
 * Shell script that decodes `\0ooo` with printf(1), because the configuration cannot contain line breaks.
 * The full stop preserves line breaks at the end of an argument, which `$(…)` would drop.
 */
const decodeAndRun =
  'n=$#; while [ $n -gt 0 ]; do a=$(printf "%b." "$1"); set -- "$@" "${a%.}"; shift; n=$((n - 1)); done; exec "$@"';

const hasLineBreak = (text: string) => /[\n\r]/.test(text);

const octal = (character: string) => `\\0${character.charCodeAt(0).toString(8).padStart(3, "0")}`;

/** Quotes one argument for all three parsers. */
function quote(argument: string): string {
  if (plain.test(argument)) return argument;
  // The quotes are closed and reopened after each “%” and before each “;” or “#”, so that none begins an expansion or a comment.
  const inner = argument
    .replaceAll("'", `'"'"'`)
    .replaceAll("%", "%%''")
    .replaceAll(/[;#]/g, "''$&");
  return `'${inner}'`;
}

/**
 * Returns the value of the option `command`.
 * @param argv without NUL, which no argument of a process can contain
 */
export function commandText(argv: readonly string[]): string {
  const encoded = argv.some(hasLineBreak)
    ? ["sh", "-c", decodeAndRun, "sh", ...argv.map((text) => text.replaceAll(/[\\\n\r]/g, octal))]
    : argv;
  return encoded.map(quote).join(" ");
}

/** Returns a command for use after env(1), which would take a program with “=” in its name for a variable. */
export const afterEnv = (argv: readonly string[]): readonly string[] =>
  argv[0]?.includes("=") === true ? ["sh", "-c", 'exec "$@"', "sh", ...argv] : argv;

/**
 * Formats variables for the option `environment`. It has no syntax for some values; env(1) sets these.
 * @returns the value of the option, and the command, with env(1) where needed
 */
export function withEnvironment(
  argv: readonly string[],
  environment: Record<string, string>,
): { argv: readonly string[]; environment: string } {
  const variables = Object.entries(environment);
  const others = variables.filter(([, value]) => !plain.test(value));
  return {
    environment: variables
      .filter(([, value]) => plain.test(value))
      .map(([name, value]) => `${name}="${value}"`)
      .join(","),
    argv:
      others.length === 0
        ? argv
        : ["env", "--", ...others.map(([name, value]) => `${name}=${value}`), ...afterEnv(argv)],
  };
}

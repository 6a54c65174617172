// Writes a command into supervisord's configuration, so that the process gets each argument and each variable byte for byte.
// Three readers are in between. ConfigParser reads one line, drops what follows white space and `;` or `#`, and replaces
// `%(here)s` wherever it stands; Python's % operator expands the rest; shlex splits it. See http://supervisord.org/configuration.html.

/** Nothing in it means anything to any of the three. */
const plain = /^[\w/.,:=@+-]+$/;

/**
 * Reads `\0ooo` of printf(1), because no line of the configuration holds a line break.
 * The full stop keeps the line breaks at an argument's end, which `$(…)` drops.
 */
const decodeAndRun =
  'n=$#; while [ $n -gt 0 ]; do a=$(printf "%b." "$1"); set -- "$@" "${a%.}"; shift; n=$((n - 1)); done; exec "$@"';

const hasLineBreak = (text: string) => /[\n\r]/.test(text);

const octal = (character: string) => `\\0${character.charCodeAt(0).toString(8).padStart(3, "0")}`;

/** One argument, in quotes that none of the three readers can see an end or a sign in. */
function quote(argument: string): string {
  if (plain.test(argument)) return argument;
  // Closed and opened again after a “%” and before what could begin a comment, each stands alone.
  const inner = argument
    .replaceAll("'", `'"'"'`)
    .replaceAll("%", "%%''")
    .replaceAll(/[;#]/g, "''$&");
  return `'${inner}'`;
}

/**
 * The value of the option `command`.
 * @param argv without NUL, which no argument of a process can hold
 */
export function commandText(argv: readonly string[]): string {
  const encoded = argv.some(hasLineBreak)
    ? ["sh", "-c", decodeAndRun, "sh", ...argv.map((text) => text.replaceAll(/[\\\n\r]/g, octal))]
    : argv;
  return encoded.map(quote).join(" ");
}

/** A command behind env(1), which takes what holds a “=” for a variable. */
export const afterEnv = (argv: readonly string[]): readonly string[] =>
  argv[0]?.includes("=") === true ? ["sh", "-c", 'exec "$@"', "sh", ...argv] : argv;

/**
 * A value that the option `environment` can hold, which knows no way to write all of them: such ones are set by env(1).
 * @returns the value of the option, and the command with what that leaves
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

// Parses the command of a program that runs `queue:work`, like supervisord and Laravel.

export type QueueCommand = {
  /** The words before `queue:work`: the command that runs `artisan`, and its path. */
  artisan: string[];
  connection: string | null;
  /** Values by name of the option; null = without a value. */
  options: Map<string, string | null>;
  /** Further words, which `queue:work` would refuse or which belong to another command. */
  rest: string[];
};

/** Splits a command at spaces outside of quotes, and removes the quotes. */
function splitCommand(command: string): string[] {
  const words = command.matchAll(/(?:[^\s"']|"(?:[^"\\]|\\.)*"|'[^']*')+/g);
  return [...words].map(([word]) =>
    word.replace(
      /"((?:[^"\\]|\\.)*)"|'([^']*)'/g,
      (_, double?: string, single?: string) => double?.replace(/\\(.)/g, "$1") ?? single ?? "",
    ),
  );
}

/** Options that take the next word as their value if they have no `=`. */
const withValue = new Set([
  "name",
  "queue",
  "delay",
  "backoff",
  "max-jobs",
  "max-time",
  "memory",
  "sleep",
  "rest",
  "timeout",
  "tries",
  "env",
]);

/** Options to ignore: those of every Laravel command that only change its output, and the obsolete `--daemon`. */
const printing =
  /^(?:-[qvn]+|--(?:quiet|silent|verbose|ansi|no-ansi|no-interaction)(?:=.*)?|--daemon)$/;

/** @returns null where the command does not run `queue:work` by itself, e.g. in a shell */
export function readQueueCommand(command: string): QueueCommand | null {
  const words = splitCommand(command);
  const at = words.indexOf("queue:work");
  if (at === -1) return null;
  const options = new Map<string, string | null>();
  const plain: string[] = [];
  const args = words.slice(at + 1);
  for (let word = args.shift(); word !== undefined; word = args.shift()) {
    if (printing.test(word)) continue;
    const [, name, given] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === undefined) plain.push(word);
    else if (given !== undefined || !withValue.has(name)) options.set(name, given ?? null);
    else options.set(name, args[0]?.startsWith("-") === false ? (args.shift() ?? null) : null);
  }
  const [connection = null, ...rest] = plain;
  return { artisan: words.slice(0, at), connection, options, rest };
}

// Parses the command of a program that runs `queue:work`, like supervisord and Laravel.

export type QueueCommand = {
  /** The words before `queue:work`: the command that runs `artisan`, and its path. */
  artisan: string[];
  connection: string | null;
  /** Values by name of the option; null = a flag. */
  options: Map<string, string | null>;
  /** What `queue:work` itself would refuse, or is no part of it. */
  rest: string[];
};

/** At spaces, but for those in quotes. */
function splitCommand(command: string): string[] {
  const words = command.matchAll(/(?:[^\s"']|"(?:[^"\\]|\\.)*"|'[^']*')+/g);
  return [...words].map(([word]) =>
    word.replace(
      /"((?:[^"\\]|\\.)*)"|'([^']*)'/g,
      (_, double?: string, single?: string) => double?.replace(/\\(.)/g, "$1") ?? single ?? "",
    ),
  );
}

/** Options that take the next word for their value where they have none of their own. */
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

/** Those of every command of Laravel that change what is printed only. */
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

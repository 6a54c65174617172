// Parses a command line into the command to run, or the text to print instead. Pure.
import { commandLine, startLine } from "../program-name.ts";
import type { Command } from "./command.ts";

type ReadCommandLine =
  | { kind: "run"; command: Command; argument: string; options: ReadonlySet<string> }
  | { kind: "help"; text: string }
  | { kind: "version" }
  /** Exits with code 2. */
  | { kind: "refused"; text: string };

/** A command that is run without `quarterdeck.ts`, but has the same kind of help. */
type Described = Pick<Command, "name" | "parameter" | "options" | "about" | "details" | "failure">;

/** False on a clone, where `npm start` also builds the dashboard. */
const hasStart = startLine !== "npm start";

const start: Described = {
  name: "start",
  about: "Starts the service, also when no command is given.",
  details: `Its settings come from environment variables, e.g. PORT, QUARTERDECK_DATA and DATABASE_URL. It ends on SIGINT and SIGTERM.`,
  failure: "the service could not start, or did not stop in time",
};

const lineOf = (words: string, about: string) => `  ${words.padEnd(32)}${about}\n`;
const wordsOf = ({ name, parameter, options = [] }: Described) =>
  [name, ...options.map((option) => `[${option}]`), parameter].filter(Boolean).join(" ");

const usageOf = (commands: readonly Command[]): string => `Usage: ${commandLine("<command>")}

${[...(hasStart ? [start] : []), ...commands]
  .map(({ name, parameter = "", about }) => lineOf(`${name} ${parameter}`, about))
  .join(
    "",
  )}${lineOf("<command> --help", "Prints more about a command.")}${lineOf("--version", "Prints the version.")}`;

const helpOf = (command: Described): string =>
  `Usage: ${commandLine(wordsOf(command))}

${[command.about, command.details ?? ""].join("\n").trimEnd()}

Exit codes:
  0    It did what it says.
  1    Failed: ${command.failure}.
  2    The command line is wrong; nothing was done.
  130  Interrupted.
`;

const isHelp = (word: string) => word === "--help" || word === "-h";
/** Whether the word is an option. A single dash is the standard input. */
const isOption = (word: string) => /^-./.test(word);

/** @param given the arguments of the program */
export function readCommandLine(
  given: readonly string[],
  commands: readonly Command[],
): ReadCommandLine {
  const [name, ...words] = given;
  if (name === "help" || (name !== undefined && isHelp(name)))
    return { kind: "help", text: usageOf(commands) };
  if (name === "--version" || name === "-v") return { kind: "version" };
  const command = commands.find((one) => one.name === name);
  const described = command ?? (hasStart && name === start.name ? start : undefined);
  if (described === undefined) return { kind: "refused", text: usageOf(commands) };
  if (words[0] === "help" || words.some(isHelp)) return { kind: "help", text: helpOf(described) };

  const refuse = (reason: string): ReadCommandLine => ({
    kind: "refused",
    text: `${name} ${reason}; see ${commandLine(`${name} --help`)}.\n`,
  });
  const unknown = words.find(
    (word) => isOption(word) && described.options?.includes(word) !== true,
  );
  if (unknown !== undefined) return refuse(`has no option ${unknown}`);
  const args = words.filter((word) => !isOption(word));
  if (described.parameter === undefined && args.length > 0) return refuse("takes no argument");
  if (described.parameter !== undefined && args.length !== 1)
    return refuse(`takes one argument, ${described.parameter}`);
  // Without arguments the package's program starts the service itself.
  if (command === undefined) return refuse("takes neither arguments nor options");
  return {
    kind: "run",
    command,
    argument: args[0] ?? "",
    options: new Set(words.filter(isOption)),
  };
}

// `quarterdeck <command>`, on a clone `npm run quarterdeck -- <command>`: what an operator does to an installation beside running it.
// Like `main.ts`, it alone reads `process.*`.
import { createRequire } from "node:module";
import { inspect } from "node:util";
import { operatorWords } from "../operator-words.ts";
import { commandLine, startLine } from "../program-name.ts";
import { cancelMoveCommand, moveDatabaseCommand } from "./move-database.ts";
import { doctorCommand } from "./doctor.ts";
import { tokenCommand } from "./token.ts";
import type { Command } from "./command.ts";
import { backupSelfCommand } from "./backup-self.ts";
import { restoreSelfCommand } from "./restore-self.ts";
import { verifyCommand } from "./verify.ts";

const commands: readonly Command[] = [
  tokenCommand,
  doctorCommand,
  moveDatabaseCommand,
  cancelMoveCommand,
  verifyCommand,
  backupSelfCommand,
  restoreSelfCommand,
];

const lineOf = (words: string, about: string) => `  ${words.padEnd(32)}${about}\n`;

const usage = `Usage: ${commandLine("<command>")}

${[
  // On a clone, `npm start` builds the dashboard as well.
  ...(startLine === "npm start"
    ? []
    : [lineOf("start", "Starts the service, as no command does.")]),
  ...commands.map(({ name, parameter = "", about }) => lineOf(`${name} ${parameter}`, about)),
  lineOf("<command> --help", "Prints more about a command."),
  lineOf("--version", "Prints the version."),
].join("")}`;

const helpOf = ({ name, parameter = "", about, details = "" }: Command): string =>
  `Usage: ${commandLine(`${name} ${parameter}`.trimEnd())}\n\n${[about, details].join("\n").trimEnd()}\n`;

const isHelp = (word: string | undefined) => word === "help" || word === "--help" || word === "-h";

function exitWith(text: string): never {
  process.stdout.write(text);
  process.exit(0);
}

const [name, ...given] = process.argv.slice(2);
if (isHelp(name)) exitWith(usage);
if (name === "--version" || name === "-v") {
  const { version }: { version: string } = createRequire(import.meta.url)("../../package.json");
  exitWith(`${version}\n`);
}
const command = commands.find((one) => one.name === name);
if (command !== undefined && isHelp(given[0])) exitWith(helpOf(command));
const options = new Set(given.filter((arg) => arg.startsWith("--")));
const args = given.filter((arg) => !options.has(arg));
if (
  command === undefined ||
  args.length !== (command.parameter === undefined ? 0 : 1) ||
  [...options].some((option) => command.options?.includes(option) !== true)
) {
  process.stderr.write(command === undefined ? usage : helpOf(command));
  process.exit(2);
}

/** What has been started, in order; it is ended in the opposite one. */
const started: (() => void | Promise<void>)[] = [];

async function endAll() {
  for (const end of started.splice(0).toReversed()) await end();
}

let isInterrupted = false;
// A connection that is cut takes back what it had not committed.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, () => {
    isInterrupted = true;
    process.stderr.write("\nInterrupted. Nothing is lost; run the same command again.\n");
    void endAll().then(() => process.exit(130));
  });

try {
  await command.run({
    argument: args[0] ?? "",
    options,
    environment: process.env,
    isRoot: process.getuid?.() === 0,
    nodeVersion: process.version,
    runtime: process.execPath,
    say: (line) => process.stdout.write(`${line}\n`),
    showProgress(line) {
      if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`);
    },
    readInput: async () => (await Array.fromAsync(process.stdin)).join(""),
    setExitCode: (code) => void (process.exitCode = code),
    onEnd: (end) => void started.push(end),
  });
  await endAll();
} catch (error) {
  if (!isInterrupted) process.stderr.write(`\n${operatorWords(error) ?? inspect(error)}\n`);
  await endAll();
  process.exitCode = 1;
}

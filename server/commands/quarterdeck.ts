// `npm run quarterdeck -- <command>`: what an operator does to an installation beside running it.
// Like `main.ts`, it alone reads `process.*`.
import { inspect } from "node:util";
import { operatorWords } from "../operator-words.ts";
import { cancelMoveCommand, moveDatabaseCommand } from "./move-database.ts";
import type { Command } from "./command.ts";

const commands: readonly Command[] = [moveDatabaseCommand, cancelMoveCommand];

const usage = `Usage: npm run --silent quarterdeck -- <command>

${commands.map(({ name, parameter, about }) => `  ${`${name} ${parameter ?? ""}`.padEnd(26)}${about.replaceAll("\n", `\n${" ".repeat(28)}`)}\n`).join("")}`;

const [name, ...args] = process.argv.slice(2);
const command = commands.find((one) => one.name === name);
if (command === undefined || args.length !== (command.parameter === undefined ? 0 : 1)) {
  const isHelp = name === "help" || name === "--help";
  (isHelp ? process.stdout : process.stderr).write(usage);
  process.exit(isHelp ? 0 : 2);
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
    environment: process.env,
    isRoot: process.getuid?.() === 0,
    say: (line) => process.stdout.write(`${line}\n`),
    readInput: async () => (await Array.fromAsync(process.stdin)).join(""),
    onEnd: (end) => void started.push(end),
  });
  await endAll();
} catch (error) {
  if (!isInterrupted) process.stderr.write(`\n${operatorWords(error) ?? inspect(error)}\n`);
  await endAll();
  process.exitCode = 1;
}

// `quarterdeck <command>`, on a clone `npm run quarterdeck -- <command>`: runs administrative commands on an installation.
// Besides `main.ts`, the only file that reads `process.*`.
import { createRequire } from "node:module";
import { inspect } from "node:util";
import { expectedErrorMessage } from "../expected-error.ts";
import { cancelMoveCommand, moveDatabaseCommand } from "./move-database.ts";
import { doctorCommand } from "./doctor.ts";
import { tokenCommand } from "./token.ts";
import type { Command } from "./command.ts";
import { readCommandLine } from "./command-line.ts";
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

const read = readCommandLine(process.argv.slice(2), commands);
if (read.kind === "version") {
  const { version }: { version: string } = createRequire(import.meta.url)("../../package.json");
  process.stdout.write(`${version}\n`);
  process.exit(0);
}
if (read.kind === "help") {
  process.stdout.write(read.text);
  process.exit(0);
}
if (read.kind === "refused") {
  process.stderr.write(read.text);
  process.exit(2);
}
const { command, argument, options } = read;

// The reader of the output may exit early, as `head` does. The command then continues, and cleans up.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

/** Registered cleanups, which run in reverse order. */
const started: (() => void | Promise<void>)[] = [];

async function endAll() {
  for (const end of started.splice(0).toReversed()) await end();
}

let isInterrupted = false;
// Closing a connection rolls back what was not committed.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, () => {
    isInterrupted = true;
    process.stderr.write("\nInterrupted. Nothing is lost; run the same command again.\n");
    void endAll().then(() => process.exit(130));
  });

try {
  await command.run({
    argument,
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
  if (!isInterrupted) process.stderr.write(`\n${expectedErrorMessage(error) ?? inspect(error)}\n`);
  await endAll();
  process.exitCode = 1;
}

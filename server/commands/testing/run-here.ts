// Runs a command in the test's process: a separate process, as with `quarterdeck.ts`, would take longer to start than most
// commands to run.
import { inspect } from "node:util";
import { expectedErrorMessage } from "../../expected-error.ts";
import type { Command } from "../command.ts";

/**
 * @param given arguments after the name of the command
 * @param input all of the standard input
 */
export async function runHere(
  command: Command,
  given: readonly string[],
  environment: Record<string, string>,
  input = "",
): Promise<{ code: number; stdout: string; stderr: string }> {
  const ends: (() => void | Promise<void>)[] = [];
  let [code, stdout, stderr] = [0, "", ""];
  try {
    await command.run({
      argument: given.find((word) => !word.startsWith("--")) ?? "",
      options: new Set(given.filter((word) => word.startsWith("--"))),
      environment: {
        PATH: process.env["PATH"],
        HOME: process.env["HOME"],
        ...environment,
      },
      isRoot: process.getuid?.() === 0,
      nodeVersion: process.version,
      runtime: process.execPath,
      say: (line) => void (stdout += `${line}\n`),
      showProgress: () => undefined,
      readInput: async () => input,
      setExitCode: (wanted) => void (code = wanted),
      onEnd: (end) => void ends.push(end),
    });
  } catch (error) {
    stderr = expectedErrorMessage(error) ?? inspect(error);
    code = 1;
  }
  for (const end of ends.toReversed()) await end();
  return { code, stdout, stderr };
}

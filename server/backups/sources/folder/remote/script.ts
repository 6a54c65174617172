// Runs short scripts of a POSIX shell on a machine that does not have our program, in place of tasks.
import { endInWords } from "../../../../hosts/end-in-words.ts";
import type { Host } from "../../../../hosts/host.ts";
import { tarEnvironment } from "../tar.ts";
import { SourceError } from "../../source.ts";

/**
 * @param args the script's `$1` and so on
 * @returns the output of the script
 * @throws SourceError with the script's own message where its exit code is not 0
 */
export async function runScript(
  host: Host,
  script: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const end = await host.run({
    argv: ["sh", "-c", script, "sh", ...args],
    environment: tarEnvironment,
    signal,
  });
  if (end.exitCode === 0) return end.stdout;
  throw new SourceError(end.stderr.trim() || `A script ${endInWords(end)}`);
}

// Runs short scripts of a POSIX shell on a machine that does not have our program, in place of tasks.
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
  const { exitCode, stdout, stderr } = await host.run({
    argv: ["sh", "-c", script, "sh", ...args],
    environment: tarEnvironment,
    signal,
  });
  if (exitCode === 0) return stdout;
  throw new SourceError(stderr.trim() || `A script ended with ${exitCode}.`);
}

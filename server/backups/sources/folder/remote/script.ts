// Short scripts of a POSIX shell, in place of tasks of our own: another machine has none of our program.
import type { Host } from "../../../../hosts/host.ts";
import { tarEnvironment } from "../tar.ts";
import { SourceError } from "../../source.ts";

/**
 * @param args what the script reads as `$1` and so on
 * @returns what it wrote
 * @throws SourceError with its own words where it ended with another code than 0
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

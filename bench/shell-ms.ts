import { spawn } from "node:child_process";
import { once } from "node:events";

/** Runs a command in a shell. @returns its duration */
export async function shellMs(
  command: string,
  environment: Record<string, string>,
): Promise<number> {
  const startedMs = performance.now();
  const shell = spawn("bash", ["-o", "pipefail", "-c", command], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...environment },
  });
  const [code]: unknown[] = await once(shell, "exit");
  if (code !== 0) throw new Error(`“${command}” ended with ${String(code)}.`);
  return performance.now() - startedMs;
}

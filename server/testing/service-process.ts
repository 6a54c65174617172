// Starts the service as a separate process, as an operator runs it: for tests that kill it,
// for the browser tests and for the benchmarks.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { leashed } from "./leash.ts";

export type ServiceProcess = {
  child: ChildProcess;
  pid: number;
  /** Without a trailing slash. */
  url: string;
  token: string;
  /** Milliseconds from the start of the process until it is ready. */
  readyMs: number;
  call(method: string, path: string, body?: unknown): Promise<Response>;
  /** Sends the signal and waits until the process has exited. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Returns the output so far. */
  output(): string;
};

export const serviceToken = "a token for tests, 32 characters at least";

/**
 * Returns the arguments of `npm start`: a small young generation keeps the memory of the service low; and buffers count
 * with the global limit, because otherwise a backup would cause a full garbage collection for every 30 MB.
 */
export const commandOf = (program: string) => [
  "--max-semi-space-size=8",
  "--external-memory-accounted-in-global-limit",
  program,
];
const command = commandOf(fileURLToPath(new URL("../setup/start.mjs", import.meta.url)));

/**
 * Starts the service on a free port and waits until it is ready.
 * @param environment variables in addition to those that every test needs, e.g. `QUARTERDECK_INVENTORY`
 * @param start program with its arguments in place of that of `npm start`; writes the same line when it is ready
 */
export async function startService(
  dataFolder: string,
  environment: Record<string, string> = {},
  start: readonly string[] = command,
): Promise<ServiceProcess> {
  const startedMs = performance.now();
  const child = spawn(...leashed("INT", process.execPath, start), {
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      PORT: "0",
      QUARTERDECK_DATA: dataFolder,
      QUARTERDECK_TOKEN: serviceToken,
      QUARTERDECK_RATE_LIMIT: "0",
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      output += `${line}\n`;
      const ready = /"url":"(http:[^"]+)\/".*"msg":"ready"/.exec(line)?.[1];
      if (ready !== undefined) resolve(ready);
    });
    child.once("exit", (code) => reject(new Error(`The service ended with ${code}:\n${output}`)));
  });
  const readyMs = performance.now() - startedMs;

  return {
    child,
    // A process that has written a line has a pid.
    pid: child.pid ?? 0,
    url,
    token: serviceToken,
    readyMs,
    output: () => output,
    call: (method, path, body) =>
      fetch(url + path, {
        method,
        headers: {
          Authorization: `Bearer ${serviceToken}`,
          Accept: "application/json",
          "Content-Type": "application/json",
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill(signal);
      await gone;
    },
  };
}

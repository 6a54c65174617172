// The service as its own process, as an operator runs it: for tests that end it from outside,
// for the browser tests and for the benchmarks.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { leashed } from "./leash.ts";

export type ServiceProcess = {
  child: ChildProcess;
  pid: number;
  /** Without a slash at the end. */
  url: string;
  token: string;
  /** Milliseconds from the start of the process to its first request. */
  readyMs: number;
  call(method: string, path: string, body?: unknown): Promise<Response>;
  /** Sends the signal and waits until the process is gone. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** What it wrote so far. */
  output(): string;
};

export const serviceToken = "a token for tests, 32 characters at least";

/**
 * As `npm start` does it: a small heap for what is young, so that the service stays small; and buffers counted with the
 * rest, or a backup would have the whole heap looked through for every 30 MB that pass.
 */
export const commandOf = (program: string) => [
  "--max-semi-space-size=8",
  "--external-memory-accounted-in-global-limit",
  program,
];
const command = commandOf(fileURLToPath(new URL("../setup/start.mjs", import.meta.url)));

/**
 * Starts the service on a free port and waits until it answers.
 * @param environment beside what every test needs, e.g. `QUARTERDECK_INVENTORY`
 * @param start another program than `npm start`'s, with its arguments, that writes the same line when it is ready
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
    // A process that wrote a line has a pid.
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

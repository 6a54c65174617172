// Runs one command on the service's own machine: streams in and out, an end for all that it started.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CommandMissing, type Command, type CommandEnd } from "./host.ts";

const keptOutputBytes = 1024 * 1024;
const keptErrorCharacters = 16 * 1024;

/**
 * @param environment what every command sees: where programs are, and a home. Nothing else of the service's own
 * environment gets through, because it holds secrets, and PG… variables that would mislead the tools.
 */
export const createRunner =
  (environment: Record<string, string>) =>
  async (command: Command): Promise<CommandEnd> => {
    const [program, ...args] = command.argv;
    command.signal?.throwIfAborted();
    const child = spawn(program, args, {
      cwd: command.folder ?? "/",
      env: { ...environment, LC_ALL: "C.UTF-8", ...command.environment },
      // A group of its own, so that an abort reaches what the program started as well.
      detached: true,
      stdio: "pipe",
    });
    const ended = once(child, "close") as Promise<[number | null, string | null]>;
    try {
      await once(child, "spawn");
    } catch (error) {
      ended.catch(() => undefined);
      throw new CommandMissing(`${program} could not be started: ${(error as Error).message}`);
    }

    const endGroup = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // The group is gone already.
      }
    };
    command.signal?.addEventListener("abort", endGroup, { once: true });

    let stderr = "";
    createInterface({ input: child.stderr }).on("line", (line) => {
      stderr = `${stderr}${line}\n`.slice(-keptErrorCharacters);
      command.onErrorLine?.(line);
    });
    let stdout = "";
    const collect = async () => {
      for await (const chunk of child.stdout.setEncoding("utf8") as AsyncIterable<string>)
        if (stdout.length < keptOutputBytes) stdout += chunk;
    };
    const streams = Promise.all([
      command.output === undefined ? collect() : pipeline(child.stdout, command.output),
      command.input === undefined ? child.stdin.end() : feed(command.input, child.stdin, endGroup),
    ]);
    try {
      await streams;
    } catch (error) {
      endGroup();
      await ended;
      command.signal?.throwIfAborted();
      throw error;
    } finally {
      command.signal?.removeEventListener("abort", endGroup);
    }
    const [exitCode, signal] = await ended;
    command.signal?.throwIfAborted();
    return { exitCode, signal, stdout, stderr };
  };

async function feed(input: Readable, stdin: Writable, endGroup: () => void): Promise<void> {
  // Before the pipe is closed: a program must not take an input that broke off for one that ended.
  input.once("error", (error) => {
    if (!isClosedByReader(error)) endGroup();
  });
  try {
    await pipeline(input, stdin);
  } catch (error) {
    // A program may end before it has read everything; its exit code says whether that was right.
    if (!isClosedByReader(error)) throw error;
    if (input.errored !== null && !isClosedByReader(input.errored)) throw input.errored;
  }
}

const isClosedByReader = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EPIPE" || code === "ERR_STREAM_PREMATURE_CLOSE" || code === "ECONNRESET";
};

// Performs tasks in child processes that become the account, see task-child.ts.
import { spawn, type ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { compileCacheEnvironment } from "../compile-cache.ts";
import type { Account } from "./account.ts";
import type { Task, TaskStreams } from "./task.ts";
import {
  channelNumber,
  hearChild,
  reviveError,
  sendLine,
  type FromChild,
  type ToChild,
} from "./task-messages.ts";

const script = fileURLToPath(new URL("task-child.ts", import.meta.url));

/** A task that was aborted may clean up for so long. */
const abortGraceMs = 5000;
/** For so long a process waits for the next task of the same operation: a start costs more than most tasks. */
const idleMs = 1000;

type Performer = <Args, Result>(
  task: Pick<Task<Args, Result>, "module" | "name">,
  args: Args,
  streams: TaskStreams,
) => Promise<Result>;

type TaskProcess = { child: ChildProcess; channel: Socket };

/** @param environment what the processes see; no secret is in it */
export function createPerformer(account: Account, environment: Record<string, string>): Performer {
  let resting: TaskProcess | null = null;
  let timer: NodeJS.Timeout | undefined;

  function start(hasStreams: boolean): TaskProcess {
    // The account may signal the process: without the flag, SIGUSR1 would open Node's debugger in it.
    const child = spawn(process.execPath, ["--disable-sigusr1", script], {
      cwd: "/",
      // Requests to io_uring would still carry root's credentials after the change of account.
      env: {
        ...environment,
        ...compileCacheEnvironment(),
        LC_ALL: "C.UTF-8",
        UV_USE_IO_URING: "0",
      },
      detached: true,
      // Not Node's own channel: the service would have to trust what comes through it.
      stdio: [hasStreams ? "pipe" : "ignore", hasStreams ? "pipe" : "ignore", "ignore", "pipe"],
    });
    // A pipe of Node's is a socket that goes both ways.
    const channel = child.stdio[channelNumber] as Socket;
    // Its end says all there is to say.
    channel.on("error", () => undefined);
    return { child, channel };
  }

  function wake(): TaskProcess {
    const found = resting;
    resting = null;
    clearTimeout(timer);
    if (found === null || found.channel.destroyed) return start(false);
    found.child.ref();
    found.channel.ref();
    return found;
  }

  /** Holds nothing up while it rests, and is gone with the channel. */
  function rest(used: TaskProcess): void {
    if (resting !== null || used.channel.destroyed) return end(used);
    resting = used;
    used.child.unref();
    used.channel.unref();
    timer = setTimeout(() => {
      resting = null;
      end(used);
    }, idleMs);
    timer.unref();
  }

  return async ({ module, name }, args, streams) => {
    streams.signal?.throwIfAborted();
    const hasStreams = streams.input !== undefined || streams.output !== undefined;
    const used = hasStreams ? start(true) : wake();
    const request = { module, name, args, account, hasStreams };
    let said: FromChild | null;
    try {
      said = await converse(used, { kind: "perform", request }, streams);
    } catch (error) {
      used.child.kill("SIGKILL");
      throw error;
    }
    if (hasStreams || said === null) end(used);
    else rest(used);
    if (said?.kind === "failed") throw streams.input?.errored ?? reviveError(said.error);
    if (said?.kind !== "done") throw new Error(`The process for ${name} ended without an answer.`);
    // The task's own type, which crossed over as it is.
    return said.result as never;
  };
}

function end({ child, channel }: TaskProcess): void {
  channel.destroy();
  // One that its account has stopped does not see the end of the channel.
  child.kill("SIGKILL");
}

/**
 * @returns how the task ended, or null for a process that is gone
 * @throws the streams' own errors, or the signal's reason
 */
async function converse(
  used: TaskProcess,
  request: ToChild,
  { input, output, say, signal }: TaskStreams,
): Promise<FromChild | null> {
  const { child, channel } = used;
  const send = (message: ToChild) => sendLine(channel, message);
  const answer = Promise.withResolvers<FromChild | null>();
  const gone = () => answer.resolve(null);
  let timer: NodeJS.Timeout | undefined;
  const abort = () => {
    send({ kind: "abort" });
    timer ??= setTimeout(() => child.kill("SIGKILL"), abortGraceMs);
  };
  channel.removeAllListeners("data").removeAllListeners("end");
  hearChild(channel, (message) => {
    if (message?.kind === "said") say?.(message.line);
    else answer.resolve(message);
  });
  channel.once("close", gone);
  child.once("error", answer.reject);
  signal?.addEventListener("abort", abort, { once: true });

  send(request);
  const { stdin, stdout } = child;
  const feeding = stdin === null ? null : feed(input, stdin, send);
  const draining = stdout === null ? undefined : drain(stdout, output, abort);
  try {
    const ending = answer.promise.then((said) => {
      // A standard output that was not ended is closed with the process alone.
      if (stdout !== null && said?.kind !== "done") end(used);
      return said;
    });
    const [said, drainError] = await Promise.all([ending, draining]);
    signal?.throwIfAborted();
    if (drainError !== undefined) throw drainError;
    return said;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    channel.off("close", gone);
    child.off("error", answer.reject);
    stdin?.destroy();
    await feeding;
  }
}

async function feed(
  input: Readable | undefined,
  stdin: Writable,
  send: (message: ToChild) => void,
): Promise<void> {
  stdin.on("error", () => undefined);
  try {
    if (input !== undefined) await pipeline(input, stdin, { end: false });
    // Before the pipe is closed, so that the child never sees an end that nobody confirmed.
    send({ kind: "input ended" });
    stdin.end();
  } catch (error) {
    send({ kind: "input failed", message: error instanceof Error ? error.message : "" });
    stdin.destroy();
  }
}

/** @returns what broke the output */
async function drain(
  stdout: Readable,
  output: Writable | undefined,
  abort: () => void,
): Promise<unknown> {
  try {
    if (output === undefined) stdout.resume();
    else await pipeline(stdout, output, { end: false });
    return undefined;
  } catch (error) {
    abort();
    return error;
  }
}

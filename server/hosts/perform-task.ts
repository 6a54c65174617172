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

/** How long an aborted task may take to clean up. */
const abortGraceMs = 5000;
/** How long a process waits for the next task of the same operation, because a start costs more than most tasks. */
const idleMs = 1000;

type Performer = <Args, Result>(
  task: Pick<Task<Args, Result>, "module" | "name">,
  args: Args,
  streams: TaskStreams,
) => Promise<Result>;

type TaskProcess = { child: ChildProcess; channel: Socket };

/** @param environment of the processes, without secrets */
export function createPerformer(account: Account, environment: Record<string, string>): Performer {
  let resting: TaskProcess | null = null;
  let timer: NodeJS.Timeout | undefined;

  function start(hasStreams: boolean): TaskProcess {
    // The account may send signals to the process: without the flag, SIGUSR1 would open Node's debugger in it.
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
      // Not Node's own IPC channel: the service would have to trust its messages.
      stdio: [hasStreams ? "pipe" : "ignore", hasStreams ? "pipe" : "ignore", "ignore", "pipe"],
    });
    // Node implements these pipes as bidirectional sockets.
    const channel = child.stdio[channelNumber] as Socket;
    // The `close` event that follows is enough.
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

  /** Keeps the process for the next task, without keeping the service running. It exits when its channel is closed. */
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
    // The result has the task's own type, because it was transferred unchanged.
    return said.result as never;
  };
}

function end({ child, channel }: TaskProcess): void {
  channel.destroy();
  // A process that its account has stopped (SIGSTOP) does not notice that the channel is closed.
  child.kill("SIGKILL");
}

/**
 * @returns how the task ended; null for a process that is gone
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
      // A standard output that the task has not ended only closes with the process.
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
    // Sent before the pipe is closed, so that the child never sees an unconfirmed end.
    send({ kind: "input ended" });
    stdin.end();
  } catch (error) {
    send({ kind: "input failed", message: error instanceof Error ? error.message : "" });
    stdin.destroy();
  }
}

/** @returns the error of the output; undefined = none */
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

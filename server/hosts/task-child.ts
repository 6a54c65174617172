// A child process that becomes an account and performs tasks as it, so that the kernel refuses what the account may not do. Its
// environment holds no secret, and the change of account closes its memory to the account's other processes.
import { flushCompileCache } from "node:module";
import { Socket } from "node:net";
import { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Account } from "./account.ts";
import { findTask, type Task } from "./task.ts";
import {
  channelNumber,
  hearService,
  recordError,
  sendLine,
  type FromChild,
  type TaskRequest,
} from "./task-messages.ts";

const channel = new Socket({ fd: channelNumber, readable: true, writable: true });

let aborting = new AbortController();
let hasBecome = false;
const inputEnd = Promise.withResolvers<void>();
inputEnd.promise.catch(() => undefined);

// The service is gone or no longer needs this process. Files that a task leaves are cleaned up elsewhere.
const end = () => process.kill(process.pid, "SIGKILL");
channel.once("close", end);
channel.once("error", end);
hearService(channel, (message) => {
  switch (message?.kind) {
    case "perform":
      return void perform(message.request);
    case "input ended":
      return inputEnd.resolve();
    case "input failed":
      return inputEnd.reject(new Error(message.message));
    case "abort":
      return aborting.abort();
    case undefined:
      return end();
  }
});

/** Throws where the caller's input failed: the end of a pipe alone does not tell a complete input from a broken one. */
async function* confirmedInput(): AsyncGenerator<Buffer> {
  for await (const piece of process.stdin) yield piece;
  await inputEnd.promise;
}

function openStreams(): { input: Readable; output: Writable } {
  // Unlike process.stdout, the task can end it or destroy it with an error.
  const output = new Socket({ fd: 1, readable: false, writable: true });
  // The task or the reader reports errors of the output.
  output.on("error", () => undefined);
  return { input: Readable.from(confirmedInput(), { objectMode: false }), output };
}

const nowhere = () => ({
  input: Readable.from([]),
  output: new Writable({ write: (_piece, _encoding, done) => done() }),
});

async function perform(request: TaskRequest): Promise<void> {
  aborting = new AbortController();
  const { input, output } = request.hasStreams ? openStreams() : nowhere();
  try {
    const task = await load(request);
    if (!hasBecome) become(request.account);
    const result = await task.perform(request.args, {
      input,
      output,
      say: (line) => tell({ kind: "said", line }),
      signal: aborting.signal,
    });
    if (!output.writableEnded) output.end();
    await finished(output, { readable: false });
    tell({ kind: "done", result });
  } catch (error) {
    tell({ kind: "failed", error: recordError(error) });
  }
}

/** Imports the task before the change of account, which may take away access to the program's files. */
async function load({ module, name }: TaskRequest): Promise<Task<unknown, unknown>> {
  const known = findTask(module, name);
  if (known !== undefined) return known;
  await import(module);
  // This process is killed, which would lose its compile cache, and the account may not write there later.
  if (!hasBecome) flushCompileCache();
  const found = findTask(module, name);
  if (found === undefined) throw new Error(`${module} brings no task ${name}`);
  return found;
}

/** Changes groups first, since only root may set them; see setpriv(1) for the same in C. */
function become({ uid, gid, name }: Account): void {
  hasBecome = process.getuid?.() === uid;
  if (hasBecome) return;
  // The types of Node.js lack initgroups; see process.initgroups in its documentation.
  const { initgroups } = process as { initgroups?: (user: string, extraGroup: number) => void };
  if (name === "" || initgroups === undefined) process.setgroups?.([gid]);
  else initgroups(name, gid);
  process.setgid?.(gid);
  process.setuid?.(uid);
  if (process.getuid?.() !== uid || process.geteuid?.() !== uid)
    throw new Error(`This process could not become user ${uid}.`);
  hasBecome = true;
}

function tell(message: FromChild): void {
  sendLine(channel, message);
}

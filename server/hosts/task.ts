// Defines tasks: the service's own work on the files of an account. A task runs in this process for the service's own account,
// and in a child process that becomes the account for any other.
import type { Readable, Writable } from "node:stream";

export type TaskPort = {
  /** Ends only where the caller's input was complete. */
  input: Readable;
  output: Writable;
  say(line: string): void;
  signal: AbortSignal;
};

export type Task<Args, Result> = {
  /** The module to import, and the name of the task in it. */
  module: string;
  name: string;
  perform(args: Args, port: TaskPort): Promise<Result>;
};

/** All tasks that were imported so far. */
const tasks = new Map<string, Task<unknown, unknown>>();

const keyOf = (module: string, name: string): string => `${module}#${name}`;

/**
 * @param module the URL of a file that statically imports this task and the others used with it: once a process has become the
 * account, it may not be able to read the program's own files.
 */
export function defineTask<Args, Result>(
  module: string,
  name: string,
  perform: Task<Args, Result>["perform"],
): Task<Args, Result> {
  const task = { module, name, perform };
  tasks.set(keyOf(module, name), task);
  return task;
}

export const findTask = (module: string, name: string): Task<unknown, unknown> | undefined =>
  tasks.get(keyOf(module, name));

/** Streams of the caller; a missing input is empty, and a missing output is discarded. */
export type TaskStreams = {
  input?: Readable;
  /** Not ended by the task. */
  output?: Writable;
  say?(line: string): void;
  signal?: AbortSignal;
};

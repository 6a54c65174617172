// Work of our own on the files of one account: a function that runs in this process where the account is the
// service's own, and in a child process that became the account where it is not.
import type { Readable, Writable } from "node:stream";

export type TaskPort = {
  /** Ends only where the caller's input ended well. */
  input: Readable;
  output: Writable;
  say(line: string): void;
  signal: AbortSignal;
};

export type Task<Args, Result> = {
  /** What has to be imported for it, and what it is called there. */
  module: string;
  name: string;
  perform(args: Args, port: TaskPort): Promise<Result>;
};

/** Every task that was imported so far. */
const tasks = new Map<string, Task<unknown, unknown>>();

const keyOf = (module: string, name: string): string => `${module}#${name}`;

/**
 * @param module the URL of a file that imports, statically, this task and the others that go with it: once a process
 * is the account, it may not be able to read the program's own files.
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

/** What the caller gives and takes; what is missing is empty, or goes nowhere. */
export type TaskStreams = {
  input?: Readable;
  /** Is not ended. */
  output?: Writable;
  say?(line: string): void;
  signal?: AbortSignal;
};

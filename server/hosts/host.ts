// A machine as one of its accounts sees it: runs commands with their streams, and finds folders.
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { Account } from "./account.ts";
import type { Task, TaskStreams } from "./task.ts";

/** Why a folder cannot be used, as the end of a sentence that begins with "The directory". */
export type FolderProblem = { problem: string };

export type Command = {
  /** Program and arguments, never read by a shell and never holding a secret. */
  argv: readonly [string, ...string[]];
  /** Environment in addition to PATH, HOME and a plain locale; the place for secrets. */
  environment?: Record<string, string>;
  /** Absolute path of the working directory. */
  folder?: string;
  /** Standard input; if not given, it is empty. */
  input?: Readable;
  /**
   * Called with each piece of the input that is no longer needed, so that its memory can be reused; never called by a remote
   * machine.
   */
  release?(piece: Buffer): void;
  /** Texts that the program reads as the files `givenFile(0)`, `givenFile(1)` …, at most five, such as a password. */
  given?: readonly string[];
  /** Standard output; if not given, up to 1 MiB of it is returned. */
  output?: Writable;
  /** Takes gigabytes of output in place of `output`: called with each piece, which it may use until it resolves. */
  take?(piece: Buffer): Promise<void>;
  /** The streams carry little data: on a remote machine, the command shares a connection. */
  isSmall?: boolean;
  /** Called with each line of standard error. */
  onErrorLine?(line: string): void;
  /** Kills the program and all that it started. */
  signal?: AbortSignal;
};

export type LocalCommand = Command & {
  /** Descriptors that the program inherits, see `heldFile`. */
  files?: readonly number[];
};

/** @returns the path at which a program can open its first, second… inherited file from the beginning */
export const heldFile = (index: number): string => `/proc/self/fd/${3 + index}`;

export type CommandEnd = {
  /** Null where a signal ended the program. */
  exitCode: number | null;
  signal: string | null;
  /** Standard output, where no `output` took it. */
  stdout: string;
  /** The last 16 KiB of standard error. */
  stderr: string;
};

/** The program does not exist on the machine, or the account may not run it. */
export class CommandMissing extends Error {
  override name = "CommandMissing";
}

/** A machine, this one or a remote one, as one of its accounts sees it: the kernel refuses what that account may not do. */
export type Host = {
  account: Account;
  /** Whether it is another machine, which has none of our program, and whose connection may be cut. */
  isRemote: boolean;
  /**
   * Whether the account is the service's own, which performs tasks in the service itself; on a remote machine, the account that
   * logs in.
   */
  isOwn: boolean;
  /**
   * @returns the same machine as another account
   * @throws where the service cannot become that account
   */
  as(account: Account): Host;
  /**
   * Runs a command to its end, in a process group of its own.
   * @throws CommandMissing, the input's, output's or `take`'s own error (the program is ended then), or an AbortError;
   * for a remote machine also ServerAway, which is never an end
   */
  run(command: Command): Promise<CommandEnd>;
  /**
   * Finds a folder inside another, links followed.
   * @param root absolute path of the folder that must not be left
   * @param folder absolute, or relative to `root`
   * @returns its real absolute path
   */
  folderInside(root: string, folder: string): Promise<string | FolderProblem>;
  /**
   * Connects to a port or socket that the machine can reach.
   * @throws Node's error, or ServerAway; where a remote machine refuses, the connection closes before its first byte
   */
  connect(to: { host: string; port: number } | { path: string }): Promise<Socket>;
  /** Memory of the machine in MB; null = unknown. */
  memoryMb: number | null;
};

/** The machine that the service runs on. Only it has our own code. */
export type LocalHost = Omit<Host, "as" | "run"> & {
  as(account: Account): LocalHost;
  /**
   * @returns the same, with all tasks in child processes: for folders whose file system may hang, because the service could not
   *   end a thread of its own there, nor exit while one waits
   */
  apart(): LocalHost;
  run(command: LocalCommand): ReturnType<Host["run"]>;
  /**
   * Performs a task of our own as the account.
   * @throws the task's error; from a child process, a plain Error with the same name, message and code
   */
  perform<Args, Result>(
    task: Task<Args, Result>,
    args: Args,
    streams?: TaskStreams,
  ): Promise<Result>;
};

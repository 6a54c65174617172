// A machine that is looked after: its folders, and the commands that run on it with their streams.
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { Account } from "./account.ts";
import type { Task, TaskStreams } from "./task.ts";

/** Why a folder cannot be used, in words that fit behind "The directory". */
export type FolderProblem = { problem: string };

export type Command = {
  /** Program and arguments; no shell reads them. A secret never stands among them. */
  argv: readonly [string, ...string[]];
  /** What the program sees beside PATH, HOME and a plain locale; the place for secrets. */
  environment?: Record<string, string>;
  /** Absolute path of the folder it runs in. */
  folder?: string;
  /** What it reads; without it, nothing. */
  input?: Readable;
  /** Called with each piece of the input that is not needed any more, so that its memory may be used again; never by a remote machine. */
  release?(piece: Buffer): void;
  /** A text that the program reads as the file `givenFile`, such as a password. */
  given?: string;
  /** Where its output goes; without it the output is kept and answered, up to 1 MiB. */
  output?: Writable;
  /** For output of gigabytes, in place of `output`: called with each piece, whose memory it may use until it resolves. */
  take?(piece: Buffer): Promise<void>;
  /** It moves little, so that on a remote machine it shares the connection of all others despite its streams. */
  isSmall?: boolean;
  /** Called with each line that it writes to its error stream. */
  onErrorLine?(line: string): void;
  /** Ends the program, and all it started, at once. */
  signal?: AbortSignal;
};

export type LocalCommand = Command & {
  /** Open files of ours, which the program finds as `heldFile` has them. */
  files?: readonly number[];
};

/** Where a program finds the first, second… of its `files`, from their beginning. */
export const heldFile = (index: number): string => `/proc/self/fd/${3 + index}`;

export type CommandEnd = {
  /** Null when a signal ended it. */
  exitCode: number | null;
  signal: string | null;
  /** What it wrote, if no `output` took it. */
  stdout: string;
  /** The last 16 KiB of its error stream. */
  stderr: string;
};

/** The program is not on this machine, or may not be run. */
export class CommandMissing extends Error {
  override name = "CommandMissing";
}

/** A machine, this one or a remote one, as one of its accounts sees it: its kernel refuses what that account may not do. */
export type Host = {
  account: Account;
  /** Another machine than the service's own: it has none of our program, and its connection may be cut. */
  isRemote: boolean;
  /** The account is the service's own, which performs its tasks by itself; on a remote machine, the one that it logs in as. */
  isOwn: boolean;
  /** The same machine as another account sees it. @throws where the service cannot become that account */
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
   * Connects to what listens where the machine can reach it: a port, or the path of a socket.
   * @throws what Node says, or ServerAway; a remote machine that refuses closes the connection before its first byte
   */
  connect(to: { host: string; port: number } | { path: string }): Promise<Socket>;
  /** Memory of the machine in MB, null where it is unknown. */
  memoryMb: number | null;
};

/** The machine that the service runs on: only there is our own code, which a remote machine does not have. */
export type LocalHost = Omit<Host, "as" | "run"> & {
  as(account: Account): LocalHost;
  /**
   * The same, but all tasks are performed in child processes, as those of other accounts are: for folders in which whoever works may
   * hang. The service could not end a thread of its own there, nor itself as long as it waits.
   */
  apart(): LocalHost;
  run(command: LocalCommand): ReturnType<Host["run"]>;
  /**
   * Performs work of our own as the account.
   * @throws what the task throws; from a child process as a plain Error with the same name, message and code
   */
  perform<Args, Result>(
    task: Task<Args, Result>,
    args: Args,
    streams?: TaskStreams,
  ): Promise<Result>;
};

// The type of a command, and what `quarterdeck.ts` passes to it.
import type { Environment } from "../environment/handover.ts";

export type Command = {
  name: string;
  /** Name of its only argument in the usage; undefined = it takes none. */
  parameter?: string;
  /** Its options, such as `--json`; none takes a value. */
  options?: readonly string[];
  /** One line for the usage. */
  about: string;
  /** Further text of its own help. */
  details?: string;
  /** Meaning of exit code 1, as the end of a sentence. */
  failure: string;
  /** @throws errors that `expectedErrorMessage` knows how to explain */
  run(context: CommandContext): Promise<void>;
};

export type CommandContext = {
  /** Empty where the command takes no argument. */
  argument: string;
  /** The given options. */
  options: ReadonlySet<string>;
  environment: Environment;
  isRoot: boolean;
  /** process.version, and the path of that Node. */
  nodeVersion: string;
  runtime: string;
  /** Writes a line for the operator. */
  say(line: string): void;
  /** Replaces the last line, on a terminal only; an empty line ends that. */
  showProgress(line: string): void;
  /** Returns all of the standard input. */
  readInput(): Promise<string>;
  /** Sets the exit code of a successful command; the default is 0. */
  setExitCode(code: number): void;
  /** Registers a cleanup, which runs when the command ends or is interrupted, in reverse order. */
  onEnd(end: () => void | Promise<void>): void;
};

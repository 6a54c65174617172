// What `quarterdeck.ts` knows of a command, and a command of the world.
import type { Environment } from "../environment/handover.ts";

export type Command = {
  name: string;
  /** The one argument it takes, as the usage shows it; undefined = none. */
  parameter?: string;
  /** Those it knows, e.g. `--json`; none takes a value. */
  options?: readonly string[];
  /** One line for the usage. */
  about: string;
  /** What its own help adds. */
  details?: string;
  /** What an exit code of 1 says, as the end of a sentence. */
  failure: string;
  /** @throws what `expectedErrorMessage` has words for */
  run(context: CommandContext): Promise<void>;
};

export type CommandContext = {
  /** Empty where the command takes none. */
  argument: string;
  /** Those that were given. */
  options: ReadonlySet<string>;
  environment: Environment;
  isRoot: boolean;
  /** As of process.version, and the path of that Node. */
  nodeVersion: string;
  runtime: string;
  /** Writes a line for the operator. */
  say(line: string): void;
  /** Shows a line in place of the last one, on a terminal only; an empty one ends that. */
  showProgress(line: string): void;
  /** All of the standard input. */
  readInput(): Promise<string>;
  /** The command's own, where it ends well: 0 unless this is called. */
  setExitCode(code: number): void;
  /** What was started ends when the command does, the last first, also where it is interrupted. */
  onEnd(end: () => void | Promise<void>): void;
};

// The command line of a worker. The service runs it, the form shows it while it is filled in.
import type { WorkerSettings } from "./bodies.ts";

type CommandSettings = Pick<
  WorkerSettings,
  | "connection"
  | "queue"
  | "sleep"
  | "tries"
  | "timeout"
  | "memory"
  | "max_jobs"
  | "max_time"
  | "force"
>;

/** Used where a site's inventory entry names no other command. */
export const defaultArtisan: readonly string[] = ["php", "artisan"];

/**
 * The argument list that a worker runs, never a shell string.
 * Options and their order are Laravel's `queue:work`.
 * @see https://laravel.com/docs/queues#the-queue-work-command
 */
export const workerArguments = (artisan: readonly string[], worker: CommandSettings): string[] => [
  ...artisan,
  "queue:work",
  worker.connection,
  `--queue=${worker.queue}`,
  `--sleep=${worker.sleep}`,
  `--tries=${worker.tries}`,
  `--timeout=${worker.timeout}`,
  `--memory=${worker.memory}`,
  `--max-jobs=${worker.max_jobs}`,
  `--max-time=${worker.max_time}`,
  ...(worker.force ? ["--force"] : []),
];

/** An argument list as one line to read and to paste into a POSIX shell; what needs quotes gets them. */
export const toCommandLine = (args: readonly string[]): string =>
  args
    .map((arg) => (/^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`))
    .join(" ");

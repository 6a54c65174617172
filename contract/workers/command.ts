// The command line of a worker. The service runs it; the form shows it.
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

/** Default, unless the site's inventory entry names another command. */
export const defaultArtisan: readonly string[] = ["php", "artisan"];

/**
 * Returns the argument list that a worker runs, never a shell string. Options and their order are those of Laravel's
 * `queue:work`.
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

/** Formats an argument list as one line that can be pasted into a POSIX shell, with quotes where they are needed. */
export const toCommandLine = (args: readonly string[]): string =>
  args
    .map((arg) => (/^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`))
    .join(" ");

// A real Laravel site for tests, which runs with the installed PHP and framework. Requires Debian's php-cli, php-laravel-framework and
// php-sqlite3, or equivalents.
import { execFile, spawnSync } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const fixture = join(import.meta.dirname, "laravel-site");

type LaravelSite = {
  folder: string;
  /** Queues `count` jobs that take `seconds` each. Returns their names, in the order of the queue. */
  dispatch(count: number, seconds: number, ...options: "--child"[]): Promise<string[]>;
  /** Returns the names of the jobs whose child process has finished. */
  doneInChild(): Promise<string[]>;
  /** Runs `php artisan …` and returns its output. Throws if it fails. */
  artisan(...args: string[]): Promise<string>;
  /** Returns the names of the jobs that were begun, once for each run. */
  begun(): Promise<string[]>;
  /** Returns the names of the jobs that were finished. */
  done(): Promise<string[]>;
  /** Returns the pid of the process that ran each job of `done()`. */
  doneBy(): Promise<number[]>;
};

// Checks extensions that the package of the framework does not depend on, such as pcntl, without which a worker handles no signals.
const probe = `
foreach (["pcntl", "posix", "pdo_sqlite"] as $name)
  if (!extension_loaded($name)) exit("PHP lacks its extension $name.");
if (stream_resolve_include_path("Illuminate/autoload.php") === false)
  exit("Laravel's Illuminate/autoload.php is not on PHP's include path.");
`;

function whatIsMissing(): string | null {
  const { error, status, stdout } = spawnSync("php", ["-r", probe], { encoding: "utf8" });
  if (error) return `php does not run here (${error.message}).`;
  return status === 0 ? stdout.trim() || null : `php -r ended with ${status}.`;
}

/** Why no Laravel site can run on this machine; null = it can. */
export const laravelMissing: string | null = whatIsMissing();

/** Creates the site in `folder`, which may exist, with an empty queue in a SQLite database of its own. */
export async function makeLaravelSite(folder: string): Promise<LaravelSite> {
  const artisan = async (...args: string[]) =>
    (await run("php", ["artisan", ...args], { cwd: folder })).stdout;
  const lines = async (event: "begun" | "done") => {
    const text = await readFile(join(folder, "storage", `${event}.log`), "utf8");
    return text.split("\n").filter((line) => line !== "");
  };
  const names = async (event: "begun" | "done") =>
    (await lines(event)).map((line) => line.replace(/ .*/, ""));

  await cp(fixture, folder, { recursive: true });
  await Promise.all(
    ["bootstrap/cache", "storage/framework/cache"].map((name) =>
      mkdir(join(folder, name), { recursive: true }),
    ),
  );
  await Promise.all(
    ["database/database.sqlite", "storage/begun.log", "storage/done.log"].map((name) =>
      writeFile(join(folder, name), ""),
    ),
  );
  await artisan("migrate", "--force");

  return {
    folder,
    artisan,
    dispatch: async (count, seconds, ...options) =>
      (await artisan("jobs:dispatch", String(count), `--seconds=${seconds}`, ...options))
        .trim()
        .split("\n"),
    doneInChild: async () =>
      (await readFile(join(folder, "storage/child.log"), "utf8")).trim().split("\n"),
    begun: () => names("begun"),
    done: () => names("done"),
    doneBy: async () => (await lines("done")).map((line) => Number(line.replace(/.* /, ""))),
  };
}

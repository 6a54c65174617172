// The settings of a worker that does what a program of supervisord does.
import { posix } from "node:path";
import type { CreateWorkerBody } from "../../contract/workers/bodies.ts";
import { createWorkerBody } from "../../contract/workers/bodies.ts";
import type { FoundProgram } from "./look.ts";
import { siteRoot } from "./names.ts";

/** As supervisord splits a command: at spaces, but for those in quotes. */
function splitCommand(command: string): string[] {
  const words = command.matchAll(/(?:[^\s"']|"(?:[^"\\]|\\.)*"|'[^']*')+/g);
  return [...words].map(([word]) =>
    word.replace(
      /"((?:[^"\\]|\\.)*)"|'([^']*)'/g,
      (_, double?: string, single?: string) => double?.replace(/\\(.)/g, "$1") ?? single ?? "",
    ),
  );
}

/** By the field of a worker: Laravel's option of `queue:work`. */
const commandOptions = {
  queue: "queue",
  sleep: "sleep",
  tries: "tries",
  timeout: "timeout",
  memory: "memory",
  max_jobs: "max-jobs",
  max_time: "max-time",
} as const;

/** By the field of a worker: supervisord's option. */
const programOptions = {
  processes: "numprocs",
  startsecs: "startsecs",
  startretries: "startretries",
  stopwaitsecs: "stopwaitsecs",
} as const;

/** What `queue:work` and supervisord take where an option is left out, as far as that differs from a worker's own defaults. */
const theirDefaults = { startsecs: 1, startretries: 3, stopwaitsecs: 10, processes: 1 };

const toNumber = (text: string | undefined) =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;

/** The folder of the site whose `artisan` it runs; null where the command and the program's folder do not say it. */
export function siteRootOf({ options }: FoundProgram): string | null {
  const artisan = splitCommand(options.get("command") ?? "").find(
    (word) => posix.basename(word) === "artisan",
  );
  if (artisan === undefined) return null;
  const path = posix.resolve(options.get("directory") ?? "/", artisan);
  return posix.isAbsolute(artisan) || options.has("directory") ? siteRoot(path) : null;
}

/** Fields that a worker could not have are left out. */
export function settingsOf({ options }: FoundProgram): Partial<CreateWorkerBody> {
  const words = splitCommand(options.get("command") ?? "");
  const args = words.slice(words.indexOf("queue:work") + 1);
  const valueOf = (name: string) =>
    args.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
  const connection = args.find((word) => !word.startsWith("-"));
  const stopSignal = options.get("stopsignal");
  const wanted: Record<string, unknown> = {
    ...theirDefaults,
    ...Object.fromEntries(
      Object.entries(commandOptions).map(([field, name]) => [
        field,
        field === "queue" ? valueOf(name) : toNumber(valueOf(name)),
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(programOptions).flatMap(([field, name]) => {
        const value = toNumber(options.get(name));
        return value === undefined ? [] : [[field, value]];
      }),
    ),
    connection,
    force: args.includes("--force"),
    ...(stopSignal !== undefined && { stopsignal: stopSignal.toUpperCase() }),
    stopasgroup: options.get("stopasgroup") === "true",
  };
  return Object.fromEntries(
    Object.entries(createWorkerBody.shape).flatMap(([field, schema]) => {
      const { data } = schema.safeParse(wanted[field]);
      return data === undefined ? [] : [[field, data]];
    }),
  );
}

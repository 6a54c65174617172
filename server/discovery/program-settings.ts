// Converts a program of supervisord into the settings of an equivalent worker.
import { posix } from "node:path";
import type { CreateWorkerBody } from "../../contract/workers/bodies.ts";
import { createWorkerBody } from "../../contract/workers/bodies.ts";
import type { FoundProgram } from "./find-programs.ts";
import { siteRoot } from "./names.ts";
import { readQueueCommand } from "./queue-command.ts";

/** Options of Laravel's `queue:work`, by field of a worker. */
const commandOptions = {
  queue: "queue",
  sleep: "sleep",
  tries: "tries",
  timeout: "timeout",
  memory: "memory",
  max_jobs: "max-jobs",
  max_time: "max-time",
} as const;

/** Options of supervisord, by field of a worker. */
const programOptions = {
  processes: "numprocs",
  startsecs: "startsecs",
  startretries: "startretries",
  stopwaitsecs: "stopwaitsecs",
  stopsignal: "stopsignal",
} as const;

/** Defaults of `queue:work` and supervisord. */
const theirDefaults = {
  sleep: 3,
  tries: 1,
  timeout: 60,
  memory: 128,
  max_jobs: 0,
  max_time: 0,
  startsecs: 1,
  startretries: 3,
  stopwaitsecs: 10,
  processes: 1,
};

/** Options of `queue:work` that a worker has a field for. */
export const mappedOptions: ReadonlySet<string> = new Set([
  ...Object.values(commandOptions),
  "force",
]);

/** Parses a boolean like supervisord; null = it is not a boolean. */
export const readBoolean = (text = ""): boolean | null =>
  /^(?:yes|true|on|1)$/i.test(text) || (/^(?:no|false|off|0)$/i.test(text) ? false : null);

const textFields = new Set(["queue", "connection", "stopsignal"]);

/** Returns the fields that a program sets: the name of the option in its definition, and the text of the value. */
function writtenIn({ options }: FoundProgram): { field: string; option: string; text: string }[] {
  const command = readQueueCommand(options.get("command") ?? "");
  const ofCommand = Object.entries(commandOptions).map(([field, name]) => ({
    field,
    option: `--${name}`,
    text: command?.options.get(name),
  }));
  const ofProgram = Object.entries(programOptions).map(([field, name]) => ({
    field,
    option: name,
    text: name === "stopsignal" ? options.get(name)?.toUpperCase() : options.get(name),
  }));
  const connection = { field: "connection", option: "connection", text: command?.connection };
  return [connection, ...ofCommand, ...ofProgram].flatMap(({ text, ...one }) =>
    text == null ? [] : [{ ...one, text }],
  );
}

const valueOf = (field: string, text: string): unknown =>
  textFields.has(field) ? text : /^\d+$/.test(text) ? Number(text) : undefined;

/** Returns the options whose values no worker can have, e.g. `numprocs=900`. */
export function unfitOptions(program: FoundProgram): string[] {
  const schemas = new Map(Object.entries(createWorkerBody.shape));
  return writtenIn(program).flatMap(({ field, option, text }) => {
    const value = valueOf(field, text);
    const fits = value !== undefined && schemas.get(field)?.safeParse(value).success === true;
    return fits ? [] : [`${option}=${text}`];
  });
}

/** Returns the path of its `artisan`; null where the command has none, or has a relative path and the program no `directory`. */
export function artisanOf({ options }: FoundProgram): string | null {
  const artisan = readQueueCommand(options.get("command") ?? "")?.artisan.find(
    (word) => posix.basename(word) === "artisan",
  );
  if (artisan === undefined) return null;
  return posix.isAbsolute(artisan) || options.has("directory")
    ? posix.resolve(options.get("directory") ?? "/", artisan)
    : null;
}

/** Returns the folder of the site whose `artisan` it runs; null = unknown. */
export function siteRootOf(program: FoundProgram): string | null {
  const artisan = artisanOf(program);
  return artisan === null ? null : siteRoot(artisan);
}

/** Returns the settings of an equivalent worker, without values that no worker can have. */
export function settingsOf(program: FoundProgram): Partial<CreateWorkerBody> {
  const { options } = program;
  const command = readQueueCommand(options.get("command") ?? "");
  const wanted: Record<string, unknown> = {
    ...theirDefaults,
    ...Object.fromEntries(
      writtenIn(program).map(({ field, text }) => [field, valueOf(field, text)]),
    ),
    force: command?.options.has("force") ?? false,
    stopasgroup: readBoolean(options.get("stopasgroup")) === true,
  };
  return Object.fromEntries(
    Object.entries(createWorkerBody.shape).flatMap(([field, schema]) => {
      const { data } = schema.safeParse(wanted[field]);
      return data === undefined ? [] : [[field, data]];
    }),
  );
}

// Compares a program of supervisord with the worker that would replace it: the differences, and why a take-over is not possible.
import { posix } from "node:path";
import { toCommandLine } from "../../contract/workers/command.ts";
import type { SiteRow } from "../inventory/store.ts";
import type { FoundProgram } from "./find-programs.ts";
import { siteRoot } from "./names.ts";
import {
  artisanOf,
  mappedOptions,
  readBoolean,
  settingsOf,
  unfitOptions,
} from "./program-settings.ts";
import { readQueueCommand, type QueueCommand } from "./queue-command.ts";

/** Command and account of a program, as supervisord reports them. */
export type RunningProgram = {
  /** Null if supervisord does not have the program; empty if its version does not report commands. */
  command: string | null;
  /** Uid of the account that it runs as; null = unknown. */
  uid: number | null;
};

type Comparison = {
  /** Why the program cannot be taken over, and what to do; null = it can. */
  refusal: string | null;
  /** How the worker would differ, in sentences for the user. */
  differences: string[];
};

const oneLine = (text: string) => text.replaceAll(/\s+/g, " ").trim();

/** Whether two words name the same program, in whatever folder it is. */
const isSameProgram = (one: string, other: string) => posix.basename(one) === posix.basename(other);

/** Returns why its command, directory or user cannot be interpreted; null = they can. */
function unreadableOf(program: FoundProgram, command: QueueCommand | null): string | null {
  const { options } = program;
  const withPercent = ["command", "directory", "user"].find((name) =>
    options.get(name)?.includes("%("),
  );
  if (withPercent !== undefined)
    return `Its ${withPercent} has a %(…)s, which only supervisord can read. Create a worker by hand.`;
  if (command === null || command.rest.length > 0 || artisanOf(program) === null)
    return "Its command is more than an artisan file that runs queue:work. Create a worker by hand.";
  return null;
}

function refusalOf(
  program: FoundProgram,
  command: QueueCommand | null,
  running: RunningProgram | { problem: string },
): string | null {
  const { options, group, file, otherFiles } = program;
  if ("problem" in running) return running.problem;
  if (group !== null)
    return `It is part of supervisord's group ${group}. Take it out of the group, then scan the server again.`;
  if (otherFiles.length > 0)
    return `It is in ${otherFiles.join(" and ")} as well, from where supervisord would start it again. Keep it in one file, then scan the server again.`;
  const unreadable = unreadableOf(program, command);
  if (unreadable !== null) return unreadable;
  const unfit = unfitOptions(program);
  if (unfit.length > 0)
    return `No worker can have ${unfit.join(", ")}. Change it in ${file}, then scan the server again.`;
  if (running.command === null)
    return `supervisord has not read it: ${file} was changed since. Run supervisorctl reread and supervisorctl update, then scan the server again.`;
  const isOther = oneLine(running.command) !== oneLine(options.get("command") ?? "");
  if (running.command !== "" && isOther)
    return `supervisord runs another command for it: ${oneLine(running.command)}. Run supervisorctl update on the server, then scan the server again.`;
  return null;
}

function ofCommand(command: QueueCommand, site: SiteRow): string[] {
  const { artisan } = command;
  const isSame =
    artisan.length === site.artisan.length &&
    artisan.every((word, index) => isSameProgram(word, site.artisan[index] ?? ""));
  const left = [...command.options].flatMap(([name, value]) =>
    mappedOptions.has(name) || value === "0"
      ? []
      : [`--${name}${value === null ? "" : `=${value}`}`],
  );
  return [
    ...(isSame
      ? []
      : [
          `It runs ${toCommandLine(artisan)}. The worker runs ${toCommandLine(site.artisan)}, as the site's entry in the inventory says.`,
        ]),
    ...(left.length === 0 ? [] : [`The worker runs without ${left.join(", ")}.`]),
  ];
}

function ofAccount(uid: number | null, { account: { account } }: SiteRow): string[] {
  if (account === null || uid === account.uid) return [];
  const name = account.name === "" ? account.uid : account.name;
  return [
    uid === null
      ? `The worker runs as ${name}, the site's account. Whom the program runs as could not be found out.`
      : `It runs as another account (uid ${uid}). The worker runs as ${name}, the site's account.`,
  ];
}

/** Warns of jobs that the stop would kill. Quarterdeck cannot prevent it without changing the program's file. */
function ofStop(program: FoundProgram): string[] {
  const { timeout = 0, stopwaitsecs = 0 } = settingsOf(program);
  if (timeout > 0 && stopwaitsecs > timeout) return [];
  return [
    `supervisord kills a job that still runs ${stopwaitsecs} s after the stop (stopwaitsecs), and a job may take ${timeout === 0 ? "any time" : `${timeout} s`}. A killed job is tried again as its tries allow, or counts as failed. Take the program over while no long job runs.`,
  ];
}

/** Describes the end after which supervisord does not restart the program. */
function endOf({ options }: FoundProgram): string {
  if (readBoolean(options.get("autorestart")) === false) return "ended";
  const codes = (options.get("exitcodes") ?? "0").split(",").map((code) => code.trim());
  return `exited with code ${codes.join(" or ")}`;
}

function ofSection(program: FoundProgram, site: SiteRow): string[] {
  const { options } = program;
  const directory = options.get("directory");
  const folder = directory === undefined ? null : posix.resolve("/", directory);
  const isElsewhere =
    folder !== null &&
    ![site.root, posix.dirname(artisanOf(program) ?? "/")].includes(folder) &&
    siteRoot(posix.join(folder, "artisan")) !== site.root;
  const names = [
    ...(options.get("environment") ?? "").matchAll(/(?:^|,)\s*([A-Za-z_]\w*)\s*=/g),
  ].map(([, name = ""]) => name);
  const log = options.get("stdout_logfile");
  return [
    ...(names.length === 0
      ? []
      : [
          `The worker does not have its variables ${names.join(", ")}: set them in the site's .env.`,
        ]),
    ...(isElsewhere ? [`It runs in ${folder}. The worker runs in ${site.root}.`] : []),
    ...(options.has("umask") ? [`The worker runs without its umask ${options.get("umask")}.`] : []),
    ...(readBoolean(options.get("autostart")) === false
      ? ["It is started by hand only. The worker is always up."]
      : []),
    ...(readBoolean(options.get("autorestart")) === true
      ? []
      : [`It is not started again after it has ${endOf(program)}. The worker always is.`]),
    ...(log === undefined || /^(?:none|off|auto)$/i.test(log)
      ? []
      : [`What it prints goes to ${log}. The worker's log is on its page.`]),
  ];
}

/** @param site the site whose `artisan` the program runs; null where the inventory has none */
export function compareProgram(
  program: FoundProgram,
  site: SiteRow | null,
  running: RunningProgram | { problem: string },
): Comparison {
  const command = readQueueCommand(program.options.get("command") ?? "");
  if (site === null)
    return {
      refusal: unreadableOf(program, command) ?? "Add its site first.",
      differences: [],
    };
  const refusal = refusalOf(program, command, running);
  if (refusal !== null || command === null || "problem" in running)
    return { refusal, differences: [] };
  return {
    refusal,
    differences: [
      ...ofStop(program),
      ...ofAccount(running.uid, site),
      ...ofCommand(command, site),
      ...ofSection(program, site),
    ],
  };
}

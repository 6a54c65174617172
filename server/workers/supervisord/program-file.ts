// Formats a worker's program file, with one program for each process. With `numprocs`, the processes would be one group, which
// supervisord can only remove and add as a whole; so, it can replace or end one process without the others.
import { accountEnvironment } from "../../hosts/as-account.ts";
import type { Program } from "../processes/process-manager.ts";
import { typedFolder } from "../supervisor/directory.ts";
import { keptLogs, maxLogBytes } from "../supervisor/log-files.ts";
import { afterEnv, commandText, withEnvironment } from "./command-text.ts";

/** Names of one installation's programs and files, unique on the server. */
export type Names = ReturnType<typeof createNames>;

const numberPattern = "([1-9]\\d*)";

/** @param instance distinguishes this installation from others that use the same supervisord */
export function createNames(instance: string) {
  const prefix = `quarterdeck-${instance.replaceAll(/[^A-Za-z0-9]/g, "").slice(0, 12)}`;
  const group = new RegExp(`^${prefix}-${numberPattern}-${numberPattern}$`);
  const file = new RegExp(`^${prefix}-${numberPattern}\\.`);
  return {
    prefix,
    /** Returns the name of a process's group, which is also that of its program. */
    groupOf: (id: number, number: number) => `${prefix}-${id}-${number}`,
    /** @returns worker and number; null for a group of another owner */
    parseGroup(name: string): { id: number; number: number } | null {
      const [, id, number] = group.exec(name) ?? [];
      return id === undefined ? null : { id: Number(id), number: Number(number) };
    },
    fileOf: (id: number, suffix: string) => `${prefix}-${id}${suffix}`,
    /** @returns the worker's id; null for a file of another owner */
    parseFile(name: string): number | null {
      const [, id] = file.exec(name) ?? [];
      return id === undefined ? null : Number(id);
    },
    logOf: (folder: string, id: number, number: number) =>
      `${folder}/${prefix}/worker-${id}-${number}.log`,
  };
}

/** Refuses a folder outside the site's. Checked at each start, because a deployment may change links. */
const checkAndRun = `root=$(CDPATH= cd -P -- "$1" && pwd -P) || exit 126; here=$(pwd -P); case $here/ in "\${root%/}"/*) shift; exec "$@" ;; esac; echo "Quarterdeck: the directory leads out of the site's folder, to $here" >&2; exit 126`;

type Section = {
  program: Program;
  number: number;
  names: Names;
  /** Folder of its log. */
  logFolder: string;
  /** Variables in addition to the account's. */
  environment: Record<string, string>;
};

/** @returns the program's section; or, as a sentence, why there is none */
export function programSection(section: Section): string | { problem: string } {
  const { program, number, names, logFolder } = section;
  const { account } = program;
  if ("problem" in account) return account;
  if (program.args.length === 0) return { problem: "No command is configured." };
  const folder = typedFolder(program);
  const checked =
    program.directory === null
      ? program.args
      : ["sh", "-c", checkAndRun, "sh", program.root, ...program.args];
  const { argv, environment } = withEnvironment(checked, {
    ...section.environment,
    ...accountEnvironment(account),
  });
  // supervisord's option `directory` cannot be quoted.
  const isPlain = /^[\w/.,:=@+-]+$/.test(folder);
  const name = names.groupOf(program.id, number);
  const options: Record<string, string | number | boolean> = {
    command: commandText(isPlain ? argv : ["env", `--chdir=${folder}`, "--", ...afterEnv(argv)]),
    process_name: "%(program_name)s",
    numprocs: 1,
    directory: isPlain ? folder : "/",
    user: account.name === "" ? account.uid : account.name,
    autostart: true,
    autorestart: true,
    startsecs: program.startsecs,
    startretries: program.startretries,
    stopsignal: program.stopsignal,
    stopwaitsecs: program.stopwaitsecs,
    // A stop ends all descendants, too. A restart of the process alone does not use `stopProcess`, but sends a signal.
    stopasgroup: true,
    killasgroup: true,
    redirect_stderr: true,
    stdout_logfile: names.logOf(logFolder, program.id, number),
    stdout_logfile_maxbytes: maxLogBytes,
    stdout_logfile_backups: keptLogs,
    environment,
  };
  const lines = Object.entries(options).map(([option, value]) => `${option}=${value}`);
  return [`[program:${name}]`, ...lines, ""].join("\n");
}

const head = `; Written by Quarterdeck, which replaces it at the next change.
; To change this worker, use Quarterdeck's dashboard.
`;

/** Returns the content of the file; null = there should be no file. */
export const fileText = (sections: readonly string[]): string | null =>
  sections.length === 0 ? null : [head, ...sections].join("\n");

/** Returns the sections of a file written by this module, by the number of their process. */
export function sectionsIn(text: string, names: Names): Map<number, string> {
  const sections = text.split(/^(?=\[program:)/m).slice(1);
  return new Map(
    sections.flatMap((section) => {
      const name = /^\[program:(.*)\]$/m.exec(section)?.[1] ?? "";
      const parsed = names.parseGroup(name);
      return parsed === null ? [] : [[parsed.number, `${section.trimEnd()}\n`] as const];
    }),
  );
}

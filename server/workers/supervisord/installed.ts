// Reads from supervisord's configuration its socket, the folder that it includes, and the folder of its logs.
import { dirname, isAbsolute, join } from "node:path";
import { ServerAway } from "../../ssh/server-away.ts";
import { toError } from "../../to-error.ts";
import { readText, run } from "./files.ts";
import type { Machine } from "./machine.ts";
import { SupervisordAway } from "./rpc.ts";

/** How to connect to supervisord. */
type Way = {
  socket: string;
  /** `user:password`; null = it requires none. */
  login: string | null;
};

export type Installed = Way & {
  /** Folder of program files. */
  folder: string;
  /** Required suffix of program files, e.g. `.conf`. */
  suffix: string;
  logFolder: string;
};

/** Thrown where supervisord is not installed on the server. The message names the commands that install it. */
export class SupervisordMissing extends SupervisordAway {
  override name = "SupervisordMissing";
}

/** The absolute paths where supervisord searches its configuration without `-c`. */
const usualPaths = ["/etc/supervisor/supervisord.conf", "/etc/supervisord.conf"];

const missingText =
  "supervisord is not installed on this server. Install it there as root: apt-get install supervisor; systemctl enable --now supervisor";

type Sections = Map<string, Map<string, string>>;

/** Parses like ConfigParser: see https://docs.python.org/3/library/configparser.html#supported-ini-file-structure. */
function parse(text: string): Sections {
  const sections: Sections = new Map();
  let options = new Map<string, string>();
  let last: string | null = null;
  for (const full of text.split(/\r\n|[\r\n]/)) {
    const line = full.replace(/(?:^|\s)[;#].*$/, "");
    const name = /^\[(.+)\]\s*$/.exec(line)?.[1];
    const [, key, value = ""] = /^([^\s=:][^=:]*?)\s*[=:]\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) {
      options = sections.get(name) ?? new Map<string, string>();
      sections.set(name, options);
      last = null;
    } else if (/^\s+\S/.test(line) && last !== null)
      options.set(last, `${options.get(last) ?? ""}\n${line.trim()}`);
    else if (key !== undefined) {
      last = key.toLowerCase();
      options.set(last, value);
    }
  }
  return sections;
}

/**
 * @param told the configuration file that the inventory names; null = one of the usual ones
 * @param start beginning of the names of this installation's files
 */
export async function findInstalled(
  machine: Machine,
  told: string | null,
  start: string,
): Promise<Installed> {
  const { included, ...found } = await read(machine, told, readInstalled);
  const [first, ...others] = included;
  // supervisord skips a folder that does not exist.
  const folder = others.length > 0 && (await folderInUse(machine, included, start));
  return { ...found, ...(included.find((one) => one.folder === folder) ?? first) };
}

/** Finds only how to connect, for a supervisord to which no programs are added. */
export const findWay = (machine: Machine, told: string | null): Promise<Way> =>
  read(machine, told, readWay);

async function read<Found>(
  machine: Machine,
  told: string | null,
  interpret: (path: string, sections: Sections) => Found,
): Promise<Found> {
  for (const path of told === null ? usualPaths : [told]) {
    const text = await readText(machine, path).catch((error: unknown) => {
      if (error instanceof ServerAway) throw error;
      const { name, message } = toError(error);
      throw new SupervisordAway(
        name === "TimeoutError"
          ? `The server did not respond in time when ${path} was to be read.`
          : `${message}.`,
      );
    });
    if (text !== null) return interpret(path, parse(text));
  }
  if (told === null) throw new SupervisordMissing(missingText);
  throw new SupervisordMissing(
    `${told} is not on this server. The inventory names it as the configuration of supervisord.`,
  );
}

/** Reads an option like supervisord. @returns null where it is not set */
const reader =
  (path: string, sections: Sections) =>
  (section: string, option: string): string | null => {
    const value = sections.get(section)?.get(option);
    if (value === undefined) return null;
    const expanded = value.replaceAll("%(here)s", dirname(path)).replaceAll("%%", "%");
    if (/%\(/.test(expanded))
      throw new SupervisordAway(
        `Quarterdeck cannot tell what ${option}=${value} in ${path} means. Write the path itself there.`,
      );
    return expanded;
  };

const absoluteFrom = (path: string) => (value: string) =>
  isAbsolute(value) ? value : join(dirname(path), value);

function readWay(path: string, sections: Sections): Way {
  const get = reader(path, sections);
  const socket = get("unix_http_server", "file");
  if (socket === null)
    throw new SupervisordAway(
      `${path} has no section [unix_http_server] with “file”, so supervisord has no socket. Add it and restart supervisord.`,
    );
  const stored = get("unix_http_server", "password");
  // If the password is stored as a hash, the section of supervisorctl has it in plain text.
  const section = stored?.startsWith("{SHA}") === true ? "supervisorctl" : "unix_http_server";
  const password = get(section, "password");
  if (stored !== null && password === null)
    throw new SupervisordAway(
      `${path} has the password of supervisord's socket as a hash only. Add “username” and “password” to its section [supervisorctl], as supervisorctl needs them as well.`,
    );
  return {
    socket: absoluteFrom(path)(socket),
    login: password === null ? null : `${get(section, "username") ?? ""}:${password}`,
  };
}

function readInstalled(path: string, sections: Sections) {
  const way = readWay(path, sections);
  const get = reader(path, sections);
  const absolute = absoluteFrom(path);
  const included = includedFolders(path, get("include", "files") ?? "", absolute);
  const log = get("supervisord", "logfile");
  const logFolder =
    get("supervisord", "childlogdir") ??
    (log === null ? "/var/log/supervisor" : dirname(absolute(log)));
  return { ...way, included, logFolder: absolute(logFolder) };
}

/** Returns the folders from which supervisord includes all files with a given suffix. */
function includedFolders(path: string, files: string, absolute: (value: string) => string) {
  const [first, ...others] = files.split(/\s+/).flatMap((pattern) => {
    const [, folder, suffix] = /^([^*?[]+)\/\*(\.[\w.-]+)$/.exec(pattern) ?? [];
    return folder === undefined || suffix === undefined
      ? []
      : [{ folder: absolute(folder), suffix }];
  });
  if (first !== undefined) return [first, ...others] as const;
  throw new SupervisordAway(
    `${path} includes no folder of program files. Add to it: [include] with “files = /etc/supervisor/conf.d/*.conf”, and restart supervisord.`,
  );
}

/** Returns the first folder that contains files of this installation, else the first that exists, else an empty string. */
async function folderInUse(
  machine: Machine,
  included: readonly { folder: string }[],
  start: string,
): Promise<string> {
  const script =
    'start=$1; shift; for d; do for f in "$d/$start"*; do [ ! -e "$f" ] || { printf %s "$d"; exit; }; done; done; for d; do [ ! -d "$d" ] || { printf %s "$d"; exit; }; done';
  return (await run({ machine, script, args: [start, ...included.map(({ folder }) => folder)] }))
    .stdout;
}

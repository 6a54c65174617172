// Finds a worker's working directory at each start, because a deployment changes links. It must lie in the site's folder, links
// resolved. The kernel enforces what the account may enter; this check only prevents mistakes.
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { isInside } from "../../hosts/folder-inside.ts";
import type { Program } from "../processes/process-manager.ts";
import type { LaunchEvents } from "./slot-ports.ts";

type Place = Pick<Program, "root" | "directory">;

/** @returns the directory as the user typed it, made absolute, links not resolved */
export const typedFolder = ({ root, directory }: Place): string =>
  directory === null ? root : resolve(root, directory);

const leadsOut = (directory: string | null, real: string) =>
  `the directory ${directory ?? ""} leads out of the site's folder, to ${real}`;

/** @returns the folder, links resolved, for a process of the service's account; or why it cannot be used, as a part of a sentence */
export function findFolder(place: Place): { folder: string } | { problem: string } {
  const typed = typedFolder(place);
  let real: string;
  try {
    real = realpathSync(typed);
    if (isInside(realpathSync(place.root), real)) return { folder: real };
  } catch {
    return { folder: typed }; // the start fails then, and reports the reason
  }
  return { problem: leadsOut(place.directory, real) };
}

/** A shell script that runs as the account in the directory. Its first argument is the root, the others are the command. */
const checkAndRun = `
root=$(CDPATH= cd -P -- "$1" && pwd -P) || exit 126
here=$(pwd -P)
case $here/ in
  "\${root%/}"/*) shift; exec "$@" 3>&- ;;
esac
printf %s "$here" >&3
exit 126`;

type Argv = readonly [string, ...string[]];

/** Puts the check before the command where it runs as another account, whose folders the service must not read. */
export const checkedArgv = ({ root, directory }: Place, argv: Argv): Argv =>
  directory === null ? argv : ["sh", "-c", checkAndRun, "sh", root, ...argv];

/** Turns a failed check into a failed start with its reason; passes any other exit on. */
export function watchCheck(
  { directory }: Place,
  report: Readable | null,
  { exited, failed }: LaunchEvents,
): LaunchEvents["exited"] {
  if (report === null) return exited;
  let real = "";
  const closed = new Promise<void>((done) => {
    report.setEncoding("utf8");
    report.on("data", (text: string) => (real += text));
    report.once("error", () => done());
    report.once("close", () => done());
  });
  return (code, signal) =>
    void closed.then(() =>
      real === "" ? exited(code, signal) : failed(leadsOut(directory, real)),
    );
}

// A server as one of its accounts sees it, over its connection.
import type { Account } from "../hosts/account.ts";
import type { FolderProblem, Host } from "../hosts/host.ts";
import type { Connection } from "./connection.ts";
import { createRemoteRunner } from "./run-remotely.ts";

/** @throws ServerAway */
export async function openRemoteHost(connection: Connection, signal?: AbortSignal): Promise<Host> {
  const { uid, gid, name, home } = await connection.identify(signal);
  const own: Account = { uid, gid, name, home };

  function hostOf(account: Account): Host {
    const isOwn = account.uid === own.uid;
    const user = account.name === "" ? `#${account.uid}` : account.name;
    const run = createRemoteRunner(connection, isOwn ? null : user);
    return {
      account,
      isOwn,
      as: hostOf,
      run,
      folderInside: (root, folder) => folderInside(run, root, folder),
      memoryMb: null,
    };
  }
  return hostOf(own);
}

/** Follows links there, by the shell that every server has. */
const findFolder = [
  'r=$(cd -P -- "$1" 2>/dev/null && pwd -P && echo .) || { echo root; exit; }',
  'r=${r%"\n".}',
  "case $2 in /*) w=$2 ;; *) w=$r/$2 ;; esac",
  'f=$(cd -P -- "$w" 2>/dev/null && pwd -P && echo .) || { [ -e "$w" ] && echo file || echo gone; exit; }',
  'f=${f%"\n".}',
  'case $f/ in "${r%/}"/*) printf "is %s" "$f" ;; *) echo outside ;; esac',
].join("\n");

async function folderInside(
  run: Host["run"],
  root: string,
  folder: string,
): Promise<string | FolderProblem> {
  const { stdout } = await run({ argv: ["sh", "-c", findFolder, "sh", root, folder] });
  if (stdout.startsWith("is /")) return stdout.slice(3);
  const problems: Record<string, string> = {
    root: `cannot be checked, because the site's folder ${root} is not there`,
    file: "must be a folder",
    gone: "is not there",
    outside: "must lie inside the site's folder",
  };
  return { problem: problems[stdout.trim()] ?? "could not be checked" };
}

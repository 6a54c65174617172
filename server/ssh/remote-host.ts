// A server over its connection, seen as one of its accounts.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { posix } from "node:path";
import { toError } from "../to-error.ts";
import type { Account } from "../hosts/account.ts";
import { accountEnvironment } from "../hosts/as-account.ts";
import type { FolderProblem, Host } from "../hosts/host.ts";
import type { Asking, Connection } from "./connection.ts";
import { createRemoteRunner, type Becoming } from "./run-remotely.ts";
import { ServerAway } from "./server-away.ts";

/** @throws ServerAway */
export async function openRemoteHost(connection: Connection, asking?: Asking): Promise<Host> {
  const { uid, gid, name, home } = await connection.identify(asking);
  const own: Account = { uid, gid, name, home };

  function hostOf(account: Account): Host {
    const isOwn = account.uid === own.uid;
    const run = createRemoteRunner(connection, isOwn ? null : becoming(own, account));
    return {
      account,
      isRemote: true,
      isOwn,
      as: hostOf,
      run,
      folderInside: (root, folder) => folderInside(run, root, folder),
      connect: (to) => connectThrough(connection, to),
      memoryMb: null,
    };
  }
  return hostOf(own);
}

/** Returns the words that make a command run as another account. Root needs no sudo. */
function becoming(own: Account, account: Account): Becoming {
  const { uid, gid, name } = account;
  const sudoName = name === "" ? String.raw`\#${uid}` : name;
  if (own.uid !== 0)
    return { sudoName, words: ["sudo", "-n", "-H", "-u", name === "" ? `#${uid}` : name, "--"] };
  const groups = name === "" ? "--clear-groups" : "--init-groups";
  const environment = Object.entries(accountEnvironment(account)).map((pair) => pair.join("="));
  const words = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, groups, "--", "env"];
  return { sudoName, words: [...words, ...environment] };
}

/** Resolves a folder on the server, following links, with the shell that every server has. */
const findFolder = [
  'r=$(cd -P -- "$1" 2>/dev/null && pwd -P && echo .) || { echo root; exit; }',
  'r=${r%"\n".}',
  "case $2 in /*) w=$2 ;; *) w=$r/$2 ;; esac",
  // Checked before the disk is read, so that nothing about folders outside is disclosed.
  'case $w/ in "${r%/}"/*|"${1%/}"/*) ;; *) echo outside; exit ;; esac',
  'f=$(cd -P -- "$w" 2>/dev/null && pwd -P && echo .) || { [ -e "$w" ] && echo file || echo gone; exit; }',
  'f=${f%"\n".}',
  'case $f/ in "${r%/}"/*) printf "is %s" "$f" ;; *) echo outside ;; esac',
].join("\n");

async function folderInside(
  run: Host["run"],
  root: string,
  folder: string,
): Promise<string | FolderProblem> {
  const outside = "must lie inside the site's folder";
  const wanted = posix.normalize(folder);
  if (wanted === ".." || wanted.startsWith("../")) return { problem: outside };
  const { stdout } = await run({ argv: ["sh", "-c", findFolder, "sh", root, wanted] });
  if (stdout.startsWith("is /")) return stdout.slice(3);
  const problems: Record<string, string> = {
    root: `cannot be checked, because the site's folder ${root} is not there`,
    file: "must be a folder",
    gone: "is not there",
    outside,
  };
  return { problem: problems[stdout.trim()] ?? "could not be checked" };
}

async function connectThrough(
  connection: Connection,
  to: Parameters<Host["connect"]>[0],
): Promise<Socket> {
  // An IPv6 address contains colons, so the host is in brackets.
  const place = "path" in to ? to.path : `[${to.host}]:${to.port}`;
  const forward = await connection.forward(place);
  const socket = connect(forward.path);
  const end = () => socket.destroy(toError(forward.lost.reason));
  forward.lost.addEventListener("abort", end, { once: true });
  socket.once("close", () => {
    forward.lost.removeEventListener("abort", end);
    forward.close().catch(() => undefined);
  });
  if (forward.lost.aborted) end();
  await once(socket, "connect").catch((error: NodeJS.ErrnoException) => {
    // Only `ssh` listens there: it has just ended.
    const isOver = error.code === "ECONNREFUSED" || error.code === "ENOENT";
    throw isOver
      ? new ServerAway("lost", `The connection to ${connection.place} was lost.`)
      : error;
  });
  return socket;
}

// Who a worker runs as. A service that runs as root gives its workers no more than their site has:
// they run as the owner of their folder, and as root only where nobody else could have put it there.
import { lstatSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";

export type Account = {
  uid: number;
  gid: number;
  /** HOME, USER and LOGNAME; empty for a uid that /etc/passwd does not know. */
  environment: Record<string, string>;
};

/** As many as the kernel follows, see path_resolution(7). */
const mostLinks = 40;
const sticky = 0o1000;
const groupWrites = 0o020;
const allWrite = 0o002;

/**
 * The account that the folder belongs to. Where it belongs to root, everything on the way counts: who
 * can replace a part of the path decides what runs, so the worker runs as that one.
 * @throws what the file system throws, and an Error in words where no account can be told
 */
export function accountOf(directory: string, passwd = "/etc/passwd"): Account {
  const steps = stepsTo(directory);
  const folder = steps.at(-1);
  // Who owns / owns the machine. In a user namespace that is not 0, and cannot be become either.
  const isRoots = ({ stat }: Step) => stat.uid === 0 || stat.uid === steps[0]?.stat.uid;
  const owner =
    folder !== undefined && isRoots(folder) ? steps.find((step) => !isRoots(step)) : folder;
  if (owner !== undefined) return lookUp(owner.stat.uid, owner.stat.gid, passwd);
  const open = steps.find((step) => othersWrite(step.stat, step === folder));
  if (open !== undefined)
    throw new Error(
      `${open.path} belongs to root but others may write to it, and what they put there would run as root; give the folder to the site's user`,
    );
  return lookUp(0, 0, passwd);
}

type Step = { path: string; stat: Stats };

/** Every folder and every link that is passed on the way, in order. */
function stepsTo(directory: string): Step[] {
  let path = "/";
  const steps = [{ path, stat: lstatSync(path) }];
  const names = directory.split("/");
  for (let links = 0, name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === "..") path = dirname(path);
    if (name === "" || name === "." || name === "..") continue;
    const next = join(path, name);
    const stat = lstatSync(next);
    steps.push({ path: next, stat });
    if (stat.isSymbolicLink()) {
      links += 1;
      if (links > mostLinks)
        throw new Error(`the folder ${directory} leads through too many links`);
      const target = readlinkSync(next);
      if (target.startsWith("/")) path = "/";
      names.unshift(...target.split("/"));
    } else path = next;
  }
  return steps;
}

function othersWrite(stat: Stats, isFolderItself: boolean): boolean {
  if (stat.isSymbolicLink()) return false; // its mode means nothing
  // In a sticky folder others may add, but not replace what is root's.
  if (stat.mode & sticky && !isFolderItself) return false;
  return Boolean(stat.mode & allWrite) || Boolean(stat.mode & groupWrites && stat.gid !== 0);
}

/** Users of a directory service (LDAP) are not in the file; their workers get no HOME. */
function lookUp(uid: number, folderGid: number, passwd: string): Account {
  const entry = readFileSync(passwd, "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .find((fields) => Number(fields[2]) === uid && fields[2] !== "");
  const [name = "", , , ownGid = String(uid), , home = "/"] = entry ?? [];
  // A folder that was given to a user with `chown user` still has root's group, which is not meant.
  const gid = folderGid === 0 && uid !== 0 ? Number(ownGid) : folderGid;
  const environment = entry === undefined ? {} : { HOME: home, USER: name, LOGNAME: name };
  return { uid, gid, environment: { ...environment } };
}

// Reads the accounts of a server, and who owns its folders.
import { readPasswd, type Account } from "../hosts/account.ts";
import { findFolderOwner, findReplacer, type Look } from "../hosts/folder-owner.ts";
import type { Host } from "../hosts/host.ts";
import type { RemoteAccountSource } from "../inventory/accounts.ts";
import { ServerAway, toShownText } from "./server-away.ts";

/** Prints one line for each path, or “-” where `stat` fails. */
const statEach = 'for p; do stat -c "%u %g %f" -- "$p" 2>/dev/null || echo -; done';
const linkType = 0o120000;
const typeMask = 0o170000;

export function createRemoteAccounts(host: Host): RemoteAccountSource {
  async function lstat(path: string) {
    const { exitCode, stdout, stderr } = await host.run({
      argv: ["stat", "-c", "%u %g %f", "--", path],
    });
    if (exitCode !== 0) throw notFound(path, stderr);
    const found = readStat(stdout);
    if (found === null) throw new Error(`its server doesn't say whose ${path} is`);
    return found;
  }

  async function readlink(path: string) {
    const { exitCode, stdout, stderr } = await host.run({ argv: ["readlink", "-n", "--", path] });
    if (exitCode !== 0) throw notFound(path, stderr);
    return stdout;
  }

  /**
   * Reads all folders of the path with one command, because a slow server would take seconds for one each; targets of links are
   * read separately.
   */
  async function lookAlong(path: string): Promise<Look> {
    const names = path.split("/").filter((name) => name !== "");
    const way = ["/", ...names.map((_, index) => `/${names.slice(0, index + 1).join("/")}`)];
    const { stdout } = await host.run({ argv: ["sh", "-c", statEach, "sh", ...way] });
    const lines = stdout.split("\n");
    const found = new Map(way.map((one, index) => [one, readStat(lines[index] ?? "")]));
    return { lstat: async (one) => found.get(one) ?? lstat(one), readlink };
  }

  return {
    own: host.account,
    reserved: [],
    async find(key) {
      const { stdout } = await host.run({ argv: ["getent", "passwd", "--", String(key)] });
      return readPasswd(stdout.trim().split("\n")[0] ?? "", key);
    },
    findOwner: async (path) => findFolderOwner(path, await lookAlong(path)),
    findReplacer: async (path, uid) => findReplacer(path, uid, await lookAlong(path)),
    async whyNotAs(account: Account) {
      try {
        await host.as(account).run({ argv: ["true"] });
        return null;
      } catch (error) {
        if (error instanceof ServerAway && error.kind === "refused") return error.message;
        throw error;
      }
    },
  };
}

/** @returns null where the line is not one of `stat` */
function readStat(line: string) {
  const [, uid, gid, mode = ""] = /^(\d+) (\d+) ([0-9a-f]+)\s*$/.exec(line) ?? [];
  if (uid === undefined || gid === undefined) return null;
  const bits = Number.parseInt(mode, 16);
  return {
    uid: Number(uid),
    gid: Number(gid),
    mode: bits,
    isSymbolicLink: () => (bits & typeMask) === linkType,
  };
}

/** Returns an error with the codes of this machine's file system. */
function notFound(path: string, stderr: string): Error {
  const isMissing = /No such file or directory|Not a directory/.test(stderr);
  const reason = toShownText(stderr.trim().split("\n").at(-1) ?? "");
  return Object.assign(new Error(reason === "" ? `${path} could not be looked at` : reason), {
    code: isMissing ? "ENOENT" : "EACCES",
  });
}

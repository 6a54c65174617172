// What a server knows of its accounts and of who owns its folders.
import { readPasswd, type Account } from "../hosts/account.ts";
import { findFolderOwner, findReplacer, type Look } from "../hosts/folder-owner.ts";
import type { Host } from "../hosts/host.ts";
import type { RemoteAccountSource } from "../inventory/accounts.ts";
import { ServerAway, toShownText } from "./server-away.ts";

const linkType = 0o120000;
const typeMask = 0o170000;

export function createRemoteAccounts(host: Host): RemoteAccountSource {
  const look: Look = {
    async lstat(path) {
      const { exitCode, stdout, stderr } = await host.run({
        argv: ["stat", "-c", "%u %g %f", "--", path],
      });
      if (exitCode !== 0) throw notFound(path, stderr);
      const [uid = "", gid = "", mode = ""] = stdout.trim().split(" ");
      if (![uid, gid].every((part) => /^\d+$/.test(part)) || !/^[0-9a-f]+$/.test(mode))
        throw new Error(`its server doesn't say whose ${path} is`);
      const bits = Number.parseInt(mode, 16);
      return {
        uid: Number(uid),
        gid: Number(gid),
        mode: bits,
        isSymbolicLink: () => (bits & typeMask) === linkType,
      };
    },
    async readlink(path) {
      const { exitCode, stdout, stderr } = await host.run({ argv: ["readlink", "-n", "--", path] });
      if (exitCode !== 0) throw notFound(path, stderr);
      return stdout;
    },
  };

  return {
    own: host.account,
    reserved: [],
    async find(key) {
      const { stdout } = await host.run({ argv: ["getent", "passwd", "--", String(key)] });
      return readPasswd(stdout.trim().split("\n")[0] ?? "", key);
    },
    findOwner: (path) => findFolderOwner(path, look),
    findReplacer: (path, uid) => findReplacer(path, uid, look),
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

/** As the file system of this machine says it. */
function notFound(path: string, stderr: string): Error {
  const isMissing = /No such file or directory|Not a directory/.test(stderr);
  const reason = toShownText(stderr.trim().split("\n").at(-1) ?? "");
  return Object.assign(new Error(reason === "" ? `${path} could not be looked at` : reason), {
    code: isMissing ? "ENOENT" : "EACCES",
  });
}

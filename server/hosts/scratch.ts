// Folders for temporary files: the service's own, and one for each account that it works as.
import { chmod, chown, lstat, mkdir, readdir, rm, stat } from "node:fs/promises";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import type { LocalHost } from "./host.ts";

export type Scratch = {
  /** The service's own folder, closed to every other account. */
  own: string;
  /** Returns the folder of the host's account, closed to every other account. Creates it if necessary. */
  folderOf(host: LocalHost): Promise<string>;
  /**
   * Removes what interrupted dumps have left, each as the account that owns it. A hostile account may delay this.
   * @param isLeft whether another entry of the service's own folder can be removed
   */
  clear(isLeft: (name: string) => boolean): Promise<void>;
};

/** Root of the accounts' folders when accounts cannot reach the data folder, for example below /root. */
const sharedRoot = "/var/lib/quarterdeck-scratch";
const clearingMs = 10 * 60_000;
const enterByAll = 0o001;

/** @param dataFolder absolute path of the service's own data folder */
export async function createScratch(dataFolder: string, service: LocalHost): Promise<Scratch> {
  const own = join(dataFolder, "scratch");
  await mkdir(own, { recursive: true, mode: 0o700 });
  await chmod(own, 0o700);
  const inData = join(dataFolder, "accounts");
  const name = createHash("sha256").update(dataFolder).digest("hex").slice(0, 16);
  const elsewhere = join(sharedRoot, name);
  /** Created on demand: most services of an ordinary user never need it. */
  let shared: Promise<string> | null = null;

  async function makeShared(): Promise<string> {
    const folder = (await openTheWay(dataFolder)) ? inData : elsewhere;
    for (const made of folder === inData ? [folder] : [sharedRoot, folder]) {
      await mkdir(made, { recursive: true, mode: 0o711 });
      await chmod(made, 0o711);
    }
    return folder;
  }

  async function clearAs(folder: string): Promise<void> {
    const { uid, gid } = await lstat(folder);
    // `find` handles any number of files in one process. The account may stop that process (SIGSTOP), so it has a deadline.
    await service.as({ uid, gid, name: "", home: "/" }).run({
      argv: [
        "find",
        folder,
        "-mindepth",
        "1",
        "-maxdepth",
        "1",
        "-name",
        "dump-*",
        "-exec",
        "rm",
        "-rf",
        "--one-file-system",
        "--",
        "{}",
        "+",
      ],
      signal: AbortSignal.timeout(clearingMs),
    });
  }

  return {
    own,

    async folderOf({ account, isOwn }) {
      if (isOwn) return own;
      shared ??= makeShared();
      const folder = join(await shared, String(account.uid));
      // The parent folder belongs to root, so that no account can replace the folder.
      await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      });
      if ((await lstat(folder)).uid !== account.uid) await chown(folder, account.uid, account.gid);
      return folder;
    },

    async clear(isLeft) {
      for (const name of await namesIn(own))
        if (name.startsWith("dump-") || isLeft(name))
          await rm(join(own, name), { recursive: true, force: true });
      if (service.account.uid !== 0) return;
      for (const folder of [inData, elsewhere])
        for (const uid of await namesIn(folder)) await clearAs(join(folder, uid));
    },
  };
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/**
 * Lets every account pass through the data folder, whose content is protected by its own modes.
 * @returns whether accounts can reach it
 */
async function openTheWay(dataFolder: string): Promise<boolean> {
  const { mode, uid } = await stat(dataFolder);
  // Other software relies on root's home being closed.
  if (uid === 0 && dataFolder !== "/root" && (mode & enterByAll) === 0)
    await chmod(dataFolder, (mode & 0o7777) | 0o011);
  for (let folder = dataFolder; ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & enterByAll) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

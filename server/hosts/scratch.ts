// Folders for what must lie on disk for a while: the service's own, and one for each account that it works as.
import { chmod, chown, lstat, mkdir, readdir, rm, stat } from "node:fs/promises";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import type { LocalHost } from "./host.ts";

export type Scratch = {
  /** The service's own, closed to every other account. */
  own: string;
  /** Of the account that the host works as, closed to every other; it is there. */
  folderOf(host: LocalHost): Promise<string>;
  /**
   * Removes what dumps that were cut off have left, each as the account whose it is. An account may hold this up.
   * @param isLeft what else is of no use in the service's own
   */
  clear(isLeft: (name: string) => boolean): Promise<void>;
};

/** Where accounts find their folders when they cannot reach the data folder, e.g. one below /root. */
const sharedRoot = "/var/lib/quarterdeck-scratch";
const clearingMs = 10 * 60_000;
const enterByAll = 0o001;

/** @param dataFolder absolute, the service's own */
export async function createScratch(dataFolder: string, service: LocalHost): Promise<Scratch> {
  const own = join(dataFolder, "scratch");
  await mkdir(own, { recursive: true, mode: 0o700 });
  await chmod(own, 0o700);
  const inData = join(dataFolder, "accounts");
  const name = createHash("sha256").update(dataFolder).digest("hex").slice(0, 16);
  const elsewhere = join(sharedRoot, name);
  /** Made when it is first needed: most services of an ordinary user never do. */
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
    // By find, however many there are; the account may stop it, and then nobody waits for it for ever.
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
      // In a folder of root's, where nobody else can put something in its place.
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

/** Lets every account through the data folder, whose content is closed by itself. @returns whether the way is open then */
async function openTheWay(dataFolder: string): Promise<boolean> {
  const { mode, uid } = await stat(dataFolder);
  // Others rely on root's home being closed.
  if (uid === 0 && dataFolder !== "/root" && (mode & enterByAll) === 0)
    await chmod(dataFolder, (mode & 0o7777) | 0o011);
  for (let folder = dataFolder; ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & enterByAll) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

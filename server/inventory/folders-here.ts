// Whose the folders of this machine are. On a network mount a command looks, which is given up where the mount hangs: the service
// itself would wait there without end, at each start.
import { findFolderOwner, findReplacer } from "../hosts/folder-owner.ts";
import type { LocalHost } from "../hosts/host.ts";
import { mayHang } from "../hosts/mounts.ts";
import { createRemoteAccounts } from "../ssh/remote-accounts.ts";
import { ServerAway } from "../ssh/server-away.ts";
import type { AccountSource } from "./one-account.ts";

type Looks = Pick<AccountSource, "findOwner" | "findReplacer">;
const here: Looks = { findOwner: (path) => findFolderOwner(path), findReplacer };

/** A start waits for it. */
const limitMs = 3000;
/** Mounts are not asked so soon after one that hung: each of a hundred sites would take its time. */
const hungMs = 10_000;

/** What they find out throws ServerAway where the mount does not respond. */
export function createFoldersHere(host: LocalHost): Looks {
  let hungAtMs = -Infinity;

  async function look<Found>(path: string, ask: (looks: Looks) => Promise<Found>): Promise<Found> {
    if (!mayHang(path)) return ask(here);
    const hung = new ServerAway("silent", `${path} is on a mount that does not respond.`);
    if (performance.now() - hungAtMs < hungMs) throw hung;
    const signal = AbortSignal.timeout(limitMs);
    // A command that hangs may be one that nobody can end.
    const late = new Promise<never>((_, reject) =>
      signal.addEventListener("abort", () => reject(hung), { once: true }),
    );
    const byCommands = createRemoteAccounts({
      ...host,
      run: (command) => host.run({ ...command, signal }),
    });
    try {
      return await Promise.race([ask(byCommands), late]);
    } catch (error) {
      if (!signal.aborted) throw error;
      hungAtMs = performance.now();
      throw hung;
    }
  }

  return {
    findOwner: (path) => look(path, (looks) => looks.findOwner(path)),
    findReplacer: (path, uid) => look(path, (looks) => looks.findReplacer(path, uid)),
  };
}

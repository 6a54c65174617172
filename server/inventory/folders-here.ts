// Finds the owners of folders of this machine. On a network mount commands are used, which can be abandoned where the mount
// hangs; the service itself would block at each start.
import { findFolderOwner, findReplacer } from "../hosts/folder-owner.ts";
import type { LocalHost } from "../hosts/host.ts";
import { mayHang } from "../hosts/mounts.ts";
import { createRemoteAccounts } from "../ssh/remote-accounts.ts";
import { ServerAway } from "../ssh/server-away.ts";
import type { AccountSource } from "./one-account.ts";

type Looks = Pick<AccountSource, "findOwner" | "findReplacer">;
const here: Looks = { findOwner: (path) => findFolderOwner(path), findReplacer };

/** Short, because a start waits for it. */
const limitMs = 3000;
/** How long mounts count as hung after one did, because otherwise each of a hundred sites would take its time. */
const hungMs = 10_000;

/** The lookups throw ServerAway where the mount does not respond. */
export function createFoldersHere(host: LocalHost): Looks {
  let hungAtMs = -Infinity;

  async function look<Found>(path: string, ask: (looks: Looks) => Promise<Found>): Promise<Found> {
    if (!mayHang(path)) return ask(here);
    const hung = new ServerAway("silent", `${path} is on a mount that does not respond.`);
    if (performance.now() - hungAtMs < hungMs) throw hung;
    const signal = AbortSignal.timeout(limitMs);
    // A command that hangs may be impossible to kill.
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

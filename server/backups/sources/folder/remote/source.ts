// A site's folder on another machine as something to back up: GNU tar there reads and writes it as the site's account, by
// commands alone.
import { accountName } from "../../../../hosts/account.ts";
import type { Host } from "../../../../hosts/host.ts";
import { createArchiveInspector } from "../archive.ts";
import { inWords } from "../dump.ts";
import { tidying } from "../place.ts";
import { restoreInto, settlePlace } from "../swap.ts";
import { tarMissing } from "../tar.ts";
import { compressesThere } from "../../compress-there.ts";
import { SourceError, type Attempt, type Source } from "../../source.ts";
import { drillThere } from "./drill.ts";
import { dumpThere } from "./dump.ts";
import { findRealRoot, openPlace, whyNotSwappable } from "./place.ts";
import { runScript } from "./script.ts";
import { drillName, leftRestores, removeThere, swapThere } from "./swap.ts";

type RemoteFolderOptions = {
  /** As the site's account sees it. */
  host: Host;
  /** The site's, for people. */
  name: string;
  /** Absolute path; may be a link. */
  root: string;
};

const look = `if [ ! -e "$1" ]; then echo missing; elif [ ! -d "$1" ]; then echo other
elif [ ! -r "$1" ] || [ ! -x "$1" ]; then echo closed; else echo open; fi
tar --version; find --version | head -n 1`;

/** Of files that are called so. */
const findDatabases = `find "$1" -type f -size +0 \\( -name '*.sqlite' -o -name '*.sqlite3' -o -name '*.db' \\) -exec sh -c '
  for file; do if [ "$(head -c 15 -- "$file")" = "SQLite format 3" ]; then printf "%s\\n" "$file"; fi; done' sh {} + 2>/dev/null | head -n 4`;

const shownDatabases = 3;

/** Restores that run in this process: theirs is no leftover. */
const running = new Set<string>();

export function createRemoteFolderSource({ host, name, root }: RemoteFolderOptions): Source {
  const looked = async (signal: AbortSignal): Promise<string> => {
    const [state, ...versions] = (await runScript(host, look, [root], signal)).split("\n");
    const folder = `The folder of ${name}, ${root},`;
    if (state === "missing")
      throw new SourceError(
        `${folder} is not there. Correct its path in the inventory, or make it.`,
      );
    if (state === "other") throw new SourceError(`${folder} is not a folder.`);
    if (state === "closed")
      throw new SourceError(
        `${folder} may not be read by ${accountName(host.account)}, the site's account. Give it read and enter permission on the folder and those above it, or name another user in the inventory.`,
      );
    const version = /^tar \(GNU tar\) (\S+)/m.exec(versions.join("\n"))?.[1];
    if (version === undefined) throw tarMissing("the server has none");
    if (!versions.some((line) => line.includes("GNU findutils")))
      throw new SourceError(
        "GNU find is needed to back up folders, and the server has none. Install it (Debian: apt-get install findutils).",
      );
    return version;
  };

  /** What could not be put in order when its connection was cut. */
  async function settleLeftovers(say: Attempt["say"], signal: AbortSignal): Promise<void> {
    const place = await openPlace(host, root, 0, signal);
    for (const id of await leftRestores(host, place, signal)) {
      if (running.has(`${id} ${root}`)) continue;
      const own = await openPlace(host, root, id, signal);
      const state = await settlePlace(swapThere(host, own), { id, say, signal }, signal);
      say(`A restore of backup ${id} that was cut off is settled: ${root} is ${state}.`);
    }
  }

  const dump = async (
    isCompressed: boolean,
    inspector: ReturnType<typeof createArchiveInspector>,
    [into, attempt]: Parameters<Source["dump"]>,
  ) => {
    let real: string;
    try {
      await looked(attempt.signal);
      real = await findRealRoot(host, root, attempt.signal);
    } catch (error) {
      into.destroy(inWords(error));
      throw error;
    }
    return dumpThere(host, real, inspector, isCompressed, into, attempt);
  };

  return {
    extension: "tar",

    async rehearse(signal) {
      const version = await looked(signal);
      const lines: string[] = [];
      await settleLeftovers((line) => lines.push(line), signal);
      return [`${root} can be read; GNU tar ${version}.`, ...lines].join(" ");
    },

    async warnings(signal) {
      const real = await findRealRoot(host, root, signal);
      const reason = await whyNotSwappable(host, await openPlace(host, root, 0, signal), signal);
      const databases = (await runScript(host, findDatabases, [real], signal)).trim();
      const names = databases === "" ? [] : databases.split("\n");
      return [
        ...(reason === null ? [] : [`A restore would be refused: ${reason}.`]),
        ...(names.length === 0
          ? []
          : [
              `SQLite databases on a remote server are archived as plain files, which a write during the backup may leave inconsistent: ${names.slice(0, shownDatabases).join(", ")}${names.length > shownDatabases ? " and more" : ""}.`,
            ]),
      ];
    },

    async dump(...args) {
      return (await dump(false, createArchiveInspector(), args))();
    },

    async compressed(signal) {
      if (!(await compressesThere(host, signal))) return null;
      const inspector = createArchiveInspector();
      return { dump: (...args) => dump(true, inspector, args), inspect: inspector.inspect };
    },

    async exists() {
      const script =
        '[ ! -d "$1" ] && [ -e "$1" ] && echo file; ls -A -- "$1" 2>/dev/null | head -n 1';
      return (await runScript(host, script, [root], tidying())) !== "";
    },

    async restore(from, attempt) {
      const key = `${attempt.id} ${root}`;
      running.add(key);
      try {
        const place = await openPlace(host, root, attempt.id, attempt.signal);
        await restoreInto(host, swapThere(host, place), from, attempt);
      } finally {
        from.destroy();
        running.delete(key);
      }
    },

    drill: (from, manifest, attempt) => drillThere(host, root, from, manifest, attempt),

    async settle(attempt) {
      const { id, signal, say } = attempt;
      const left = drillName(id, root);
      const reason = await removeThere(host, left, signal);
      if (reason !== null) say(`${left} could not be removed: ${reason}.`);
      const place = await openPlace(host, root, id, signal);
      return settlePlace(swapThere(host, place), attempt, signal);
    },
  };
}

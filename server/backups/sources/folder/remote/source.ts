// The source for a site's folder on another machine, which GNU tar there reads and writes as the site's account.
import { accountName } from "../../../../hosts/account.ts";
import type { Host } from "../../../../hosts/host.ts";
import { createArchiveInspector } from "../archive.ts";
import { inWords } from "../dump.ts";
import { createFolderIntake } from "../intake.ts";
import { extractArchive, extractPacked, type Extract } from "../extract.ts";
import { tidying } from "../place.ts";
import { restoreInto, settlePlace } from "../swap.ts";
import { excludedBy } from "../excludes.ts";
import { stateOfFolder, trustedTimes, type TrustedTimes } from "../state.ts";
import { hasZstd } from "../../compress-there.ts";
import { SourceError, type Attempt, type Excludes, type Source } from "../../source.ts";
import { carryThere } from "./carry.ts";
import { drillThere } from "./drill.ts";
import { dumpThere, type Inspector } from "./dump.ts";
import { openPlace, placeIn, whyNotSwappable } from "./place.ts";
import { runScript } from "./script.ts";
import { surveyFolder, shownDatabases, refuseUnreadable, type Survey } from "./survey.ts";
import { drillName, removeThere, swapThere } from "./swap.ts";

type RemoteFolderOptions = {
  /** The machine, as the site's account. */
  host: Host;
  /** Name of the site, for people. */
  name: string;
  /** Absolute path; may be a link. */
  root: string;
  /** What backups exclude; absent or null = nothing. */
  excludes?: Excludes | null;
  times?: TrustedTimes | undefined;
};

/** Restores that run in this process, whose folders are no leftovers. */
const running = new Set<string>();

export function createRemoteFolderSource({
  host,
  name,
  root,
  excludes = null,
  times = trustedTimes,
}: RemoteFolderOptions): Source {
  /** Result of the last rehearsal, for the run that follows it. */
  let known: Survey | null = null;
  const survey = (signal: AbortSignal) => surveyFolder(host, root, signal);
  const readable = (found: Survey): Survey => {
    refuseUnreadable(found, { name, root, account: accountName(host.account) });
    return found;
  };
  const looked = async (signal: AbortSignal) => known ?? readable(await survey(signal));

  /** Settles restores that could not be cleaned up when their connection broke. @returns whether there were any */
  async function settleLeftovers(
    { real, leftRestores }: Survey,
    say: Attempt["say"],
    signal: AbortSignal,
  ): Promise<boolean> {
    const left = leftRestores.filter((id) => !running.has(`${id} ${root}`));
    for (const id of left) {
      const swap = swapThere(host, placeIn(host, real, id));
      const state = await settlePlace(swap, { id, say, signal }, signal);
      say(`A restore of backup ${id} that was cut off is settled: ${root} is ${state}.`);
    }
    return left.length > 0;
  }

  const dump = async (inspector: Inspector | null, [into, attempt]: Parameters<Source["dump"]>) => {
    let found: Survey;
    try {
      found = await looked(attempt.signal);
    } catch (error) {
      into.destroy(inWords(error));
      throw error;
    }
    known = null;
    return dumpThere(host, { ...found, excludes }, inspector, into, attempt);
  };

  const restore = async (
    extract: Extract,
    [from, attempt, manifest = null]: Parameters<Source["restore"]>,
  ) => {
    const key = `${attempt.id} ${root}`;
    running.add(key);
    try {
      const excluded = excludedBy(manifest);
      const carry = excluded === null ? null : carryThere(host, excluded);
      const place = await openPlace(host, root, attempt.id, attempt.signal);
      await restoreInto(host, swapThere(host, place), from, attempt, { extract, carry });
    } finally {
      from.destroy();
      running.delete(key);
    }
  };

  let tools: Record<string, string> = {};
  return {
    extension: "tar",
    tools: () => tools,

    async rehearse(signal) {
      const lines: string[] = [];
      known = null;
      let found = await survey(signal);
      // First, because the folder does not exist where a restore was interrupted between its two steps.
      if (await settleLeftovers(found, (line) => lines.push(line), signal))
        found = await survey(signal);
      known = readable(found);
      if (found.tarVersion !== null) tools = { tar: found.tarVersion };
      return [`${root} can be read; GNU tar ${found.tarVersion}.`, ...lines].join(" ");
    },

    async warnings(signal) {
      const { whyNotSwappable: reason, databases, hasSqlite } = await looked(signal);
      const shown = databases.slice(0, shownDatabases).join(", ");
      return [
        ...(reason === null ? [] : [`A restore would be refused: ${reason}.`]),
        ...(databases.length === 0 || hasSqlite
          ? []
          : [
              `The server has no sqlite3, so its SQLite databases are archived as plain files, which a write during the backup may leave inconsistent: ${shown}${databases.length > shownDatabases ? " and more" : ""}. Install it (Debian: apt-get install sqlite3).`,
            ]),
      ];
    },

    async dump(...args) {
      const inspector = createArchiveInspector();
      const manifestOf = await dump(inspector, args);
      return manifestOf(inspector.summary());
    },

    async compressed(signal) {
      const { hasZstd, hasSqlite, databases } = await looked(signal);
      // Databases can be replaced only in an uncompressed archive.
      if (!hasZstd || (hasSqlite && databases.length > 0)) return null;
      return { content: "archive", dump: (...args) => dump(null, args) };
    },

    state: (signal) => stateOfFolder({ host, root, real: known?.real, excludes, times }, signal),

    async exists() {
      const script =
        '[ ! -d "$1" ] && [ -e "$1" ] && echo file; ls -A -- "$1" 2>/dev/null | head -n 1';
      return (await runScript(host, script, [root], tidying())) !== "";
    },

    async refuseRestore({ id, signal }) {
      const reason = await whyNotSwappable(host, await openPlace(host, root, id, signal), signal);
      if (reason !== null) throw new SourceError(`Nothing was changed: ${reason}.`);
    },

    isBuiltAside: true,

    restore: (...call) => restore(extractArchive, call),

    unpacking: async (signal) =>
      (await hasZstd(host, signal)) ? { restore: (...call) => restore(extractPacked, call) } : null,

    intake: createFolderIntake,

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

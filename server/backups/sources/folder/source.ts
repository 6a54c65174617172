// The source for a site's folder, which GNU tar reads and writes as the site's account.
import { constants, type Dir } from "node:fs";
import { access, opendir, stat } from "node:fs/promises";
import { accountName } from "../../../hosts/account.ts";
import type { LocalHost } from "../../../hosts/host.ts";
import { defineTask } from "../../../hosts/task.ts";
import { carryHere } from "./carry.ts";
import { drillArchive, drillFolderOf } from "./drill.ts";
import { tellWhyNotExchangeable } from "./exchange-steps.ts";
import { findHolding } from "../../../hosts/mounts.ts";
import { dumpFolder, inWords } from "./dump.ts";
import { extractArchive, extractPacked, type Extract } from "./extract.ts";
import { createFolderIntake } from "./intake.ts";
import { findRealRoot, openPlace, removeFolder, tellWhyNotSwappable, tidying } from "./place.ts";
import { heldInside, restoreFolder, settleFolder } from "./swap.ts";
import { tarMissing } from "./tar.ts";
import { stateOfFolder, trustedTimes, type TrustedTimes } from "./state.ts";
import { folderTasks } from "./tasks.ts";
import { excludedBy } from "./excludes.ts";
import { hasZstd } from "../compress-there.ts";
import { reviveSourceError, SourceError, type Excludes, type Source } from "../source.ts";
import { toError } from "../../../to-error.ts";

type FolderSourceOptions = {
  /** The machine, as the site's account. */
  host: LocalHost;
  /** Name of the site, for people. */
  name: string;
  /** Absolute path; may be a link. */
  root: string;
  /** Folder of the account that drills extract into; created when needed. */
  scratchFolder: string;
  /** What backups exclude; absent or null = nothing. */
  excludes?: Excludes | null;
  times?: TrustedTimes | undefined;
};

export function createFolderSource(options: FolderSourceOptions): Source {
  const { host, name, root, excludes = null, times = trustedTimes } = options;
  const refuseUnreadable = async (signal: AbortSignal) => {
    const reading = { name, root, account: accountName(host.account) };
    const reason = await host.perform(whyNotReadable, reading, { signal });
    if (reason !== null) throw new SourceError(reason);
  };
  const whyNotSwappable = async (signal: AbortSignal) => {
    const open = await openPlace(host, root, 0, signal);
    try {
      return await open.perform(tellWhyNotSwappable, open.place, signal);
    } finally {
      await open.close();
    }
  };
  const lookAtPlace = async (signal: AbortSignal) => {
    const real = await host.perform(findRealRoot, root, { signal });
    const { isHeld, inside } = await findHolding(real);
    const reason = isHeld
      ? await host.perform(tellWhyNotExchangeable, real, { signal })
      : await whyNotSwappable(signal);
    return { reason, inside };
  };
  const restore = (
    extract: Extract,
    [from, attempt, manifest = null]: Parameters<Source["restore"]>,
  ) => {
    const excluded = excludedBy(manifest);
    const carry = excluded === null ? null : carryHere(host, excluded);
    return restoreFolder(host, root, from, attempt, { extract, carry });
  };
  let tools: Record<string, string> = {};
  return {
    extension: "tar",
    tools: () => tools,

    async rehearse(signal) {
      await refuseUnreadable(signal);
      const version = await tarVersion(host, signal);
      tools = { tar: version };
      return `${root} can be read; GNU tar ${version}.`;
    },

    async warnings(signal) {
      const { reason, inside } = await lookAtPlace(signal);
      return [
        ...(reason === null ? [] : [`A restore would be refused: ${reason}.`]),
        ...inside.map(heldInside),
      ];
    },

    async dump(into, attempt) {
      let real: string;
      try {
        await refuseUnreadable(attempt.signal);
        real = await host.perform(findRealRoot, root, { signal: attempt.signal });
      } catch (error) {
        into.destroy(inWords(error));
        throw error;
      }
      const { scratchFolder } = options;
      return dumpFolder(host, { root: real, scratchFolder, excludes }, into, attempt);
    },

    state: (signal) => stateOfFolder({ host, root, excludes, times }, signal),

    async exists() {
      try {
        return await host.perform(hasContent, root, { signal: tidying() });
      } catch (error) {
        throw reviveSourceError(error);
      }
    },

    async refuseRestore({ signal }) {
      const { reason } = await lookAtPlace(signal);
      if (reason !== null) throw new SourceError(`Nothing was changed: ${reason}.`);
    },

    isBuiltAside: true,

    restore: (...call) => restore(extractArchive, call),

    unpacking: async (signal) =>
      (await hasZstd(host, signal)) ? { restore: (...call) => restore(extractPacked, call) } : null,

    intake: createFolderIntake,

    drill: (from, manifest, attempt) => drillArchive(options, from, manifest, attempt),

    async settle(attempt) {
      const left = drillFolderOf(options.scratchFolder, attempt.id);
      const reason = await removeFolder(host, left, attempt.signal);
      if (reason !== null) attempt.say(`${left} could not be removed: ${reason}.`);
      return settleFolder(host, root, attempt);
    },
  };
}

const hasContent = defineTask(folderTasks, "hasContent", async (root: string): Promise<boolean> => {
  let folder: Dir;
  try {
    folder = await opendir(root);
  } catch (error) {
    const { code, message } = toError(error);
    if (code === "ENOENT") return false;
    // There is something other than a folder.
    if (code === "ENOTDIR") return true;
    throw new SourceError(`${root} cannot be read: ${message}`);
  }
  const first = await folder.read();
  await folder.close();
  return first !== null;
});

type Reading = { name: string; root: string; account: string };

const whyNotReadable = defineTask(
  folderTasks,
  "whyNotReadable",
  async ({ name, root, account }: Reading): Promise<string | null> => {
    const folder = `The folder of ${name}, ${root},`;
    try {
      if (!(await stat(root)).isDirectory()) return `${folder} is not a folder.`;
      await access(root, constants.R_OK | constants.X_OK);
      return null;
    } catch (error) {
      const { code, message } = toError(error);
      if (code === "ENOENT")
        return `${folder} is not there. Correct its path in the inventory, or make it.`;
      if (code === "EACCES")
        return `${folder} may not be read by ${account}, the site's account. Give it read and enter permission on the folder and those above it, or name another user in the inventory.`;
      return `${folder} cannot be read: ${message}`;
    }
  },
);

async function tarVersion(host: LocalHost, signal: AbortSignal): Promise<string> {
  try {
    const { stdout } = await host.run({ argv: ["tar", "--version"], signal });
    const version = /^tar \(GNU tar\) (\S+)/.exec(stdout)?.[1];
    if (version === undefined) throw tarMissing("the tar of this machine is another");
    return version;
  } catch (error) {
    signal.throwIfAborted();
    throw inWords(error);
  }
}

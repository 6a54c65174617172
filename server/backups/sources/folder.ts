// A site's folder as something to back up: GNU tar reads and writes it, everything else is in the files beside this one.
import { constants, type Dir } from "node:fs";
import { access, opendir, stat } from "node:fs/promises";
import type { Host } from "../../hosts/host.ts";
import { drillArchive, drillFolderOf } from "./folder-drill.ts";
import { dumpFolder, inWords } from "./folder-dump.ts";
import { findPlace, realRoot, removeFolder, whyNotSwappable } from "./folder-place.ts";
import { restoreFolder, settleFolder } from "./folder-swap.ts";
import { tarMissing } from "./folder-tar.ts";
import { SourceError, type Source } from "./source.ts";

export type FolderSourceOptions = {
  host: Host;
  /** The site's, for people. */
  name: string;
  /** Absolute path; may be a link. */
  root: string;
  /** Where drills may extract; made when needed. */
  scratchFolder: string;
  /** Whether commands run as root, who alone can give files their owners back. */
  isRoot: boolean;
};

export function createFolderSource(options: FolderSourceOptions): Source {
  const { host, name, root } = options;
  return {
    extension: "tar",

    async rehearse(signal) {
      await refuseUnreadable(name, root);
      const version = await tarVersion(host, signal);
      const reason = await whyNotSwappable(await realRoot(root));
      const warning = reason === null ? "" : ` A restore would be refused: ${reason}.`;
      return `${root} can be read; GNU tar ${version}.${warning}`;
    },

    async dump(into, attempt) {
      try {
        await refuseUnreadable(name, root);
      } catch (error) {
        into.destroy(inWords(error));
        throw error;
      }
      return dumpFolder(host, await realRoot(root), into, attempt);
    },

    async exists() {
      let folder: Dir;
      try {
        folder = await opendir(root);
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (code === "ENOENT") return false;
        // Something is there, if not a folder.
        if (code === "ENOTDIR") return true;
        throw new SourceError(`${root} cannot be read: ${message}`);
      }
      const first = await folder.read();
      await folder.close();
      return first !== null;
    },

    async restore(from, attempt) {
      await restoreFolder(options, await findPlace(root, attempt.id), from, attempt);
    },

    drill: (from, manifest, attempt) => drillArchive(options, from, manifest, attempt),

    async settle(attempt) {
      const left = drillFolderOf(options.scratchFolder, attempt.id);
      const reason = await removeFolder(host, left);
      if (reason !== null) attempt.say(`${left} could not be removed: ${reason}.`);
      return settleFolder(host, await findPlace(root, attempt.id), attempt);
    },
  };
}

async function refuseUnreadable(name: string, root: string): Promise<void> {
  try {
    if (!(await stat(root)).isDirectory())
      throw new SourceError(`The folder of ${name}, ${root}, is not a folder.`);
    await access(root, constants.R_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof SourceError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT")
      throw new SourceError(
        `The folder of ${name}, ${root}, is not there. Correct its path in the inventory, or make it.`,
      );
    if (code === "EACCES")
      throw new SourceError(
        `The folder of ${name}, ${root}, may not be read by the service's user. Give it read and enter permission on the folder and those above it, or run the service as root.`,
      );
    throw new SourceError(`The folder of ${name}, ${root}, cannot be read: ${message}`);
  }
}

async function tarVersion(host: Host, signal: AbortSignal): Promise<string> {
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

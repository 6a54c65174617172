// Refuses restores that would delete backups stored inside of a site's folder: the restored folder replaces the old one, which is
// deleted with its content, including the safety backup.
import { realpath } from "node:fs/promises";
import { posix } from "node:path";
import type { Host } from "../../hosts/host.ts";
import { expandHome } from "../../inventory/paths.ts";
import type { InventoryStore } from "../../inventory/store.ts";
import { createFilter, excludedBy } from "../sources/folder/excludes.ts";
import {
  SourceError,
  type Attempt,
  type Excludes,
  type Manifest,
  type Source,
} from "../sources/source.ts";
import { mountWatch } from "../../storage/mount-watch.ts";
import { untilAborted } from "../pipeline/together.ts";

/** A folder with stored data; `shown` names it in the middle of a sentence. */
type KeptFolder = { shown: string; path: string };

/**
 * Returns the folders of a server in which Quarterdeck stores data.
 * @param dataFolder data folder of the service; null = the service runs on another machine
 */
export async function foldersOn({
  inventory,
  serverId,
  dataFolder,
}: {
  inventory: Pick<InventoryStore, "allStorageProviders" | "isLocal">;
  serverId: number;
  dataFolder: string | null;
}): Promise<KeptFolder[]> {
  const folders: KeptFolder[] = [];
  if (dataFolder !== null) folders.push({ shown: "Quarterdeck's data folder", path: dataFolder });
  for (const one of await inventory.allStorageProviders()) {
    if (one.type !== "local") continue;
    const isHere = one.server === undefined || (await inventory.isLocal(one.server));
    if (isHere ? dataFolder !== null : one.server === serverId)
      folders.push({ shown: `the storage “${one.name}”`, path: expandHome(one.path) });
  }
  return folders;
}

/** Resolves links. A path on a mount is returned unchanged, because the mount may hang. @returns null if nothing exists there */
export const realPathHere = async (
  host: Pick<Host, "run" | "account">,
  path: string,
): Promise<string | null> =>
  (await mountWatch(path, host)
    .isMount()
    .catch(() => true))
    ? path
    : realpath(path).catch(() => null);

/** Resolves links on another machine. @returns null if nothing exists there that the login can see */
export async function realPathOn(host: Pick<Host, "run">, path: string): Promise<string | null> {
  const { exitCode, stdout } = await host.run({ argv: ["realpath", "-ez", "--", path] });
  return exitCode === 0 ? stdout.replace(/\0$/, "") : null;
}

type Replaced = {
  /** Folder of the site. */
  root: string;
  /** Path that a restore replaces: the root, or a path below it. */
  path: string;
  /** Returns folders of the same machine. */
  kept(): Promise<readonly KeptFolder[]>;
  /** Paths that the next backup excludes; null = none. */
  excludes: Excludes | null;
  /** Resolves links. @returns null if nothing exists there */
  realPath(path: string): Promise<string | null>;
};

export function keepStoredInside(source: Source, replaced: Replaced): Source {
  const { root, path, kept } = replaced;
  const realPath = async (of: string) => (await replaced.realPath(of)) ?? of;

  /** Restores leave excluded paths as they are. @returns a sentence; null = nothing would be lost */
  async function whatIsLost(excludes: Excludes | null): Promise<string | null> {
    const isLeft = createFilter(excludes?.patterns ?? []);
    for (const folder of await kept()) {
      // A folder that does not exist cannot be lost.
      const at = await replaced.realPath(folder.path);
      if (at === null || !isInside(await realPath(path), at)) continue;
      const names = Buffer.from(posix.relative(await realPath(root), at)).toString("latin1");
      const ways = names.split("/").map((_, index, all) => all.slice(0, index + 1).join("/"));
      if (names !== "" && ways.some((way) => isLeft(way, true))) continue;
      return `${folder.shown}, ${folder.path}, is in ${path}, and all that is stored there would be lost. Move it out of the site, or exclude it`;
    }
    return null;
  }

  async function refuseLoss(
    { signal }: Pick<Attempt, "signal">,
    manifest: Manifest | null,
  ): Promise<void> {
    const lost = await untilAborted(signal, whatIsLost(excludedBy(manifest)));
    if (lost !== null) throw new SourceError(`Nothing was changed: ${lost}.`);
  }

  const refusing = <Restoring extends Pick<Source, "restore">>(one: Restoring): Restoring => ({
    ...one,
    async restore(from, attempt, manifest = null) {
      try {
        await refuseLoss(attempt, manifest);
      } catch (error) {
        from.destroy();
        throw error;
      }
      await one.restore(from, attempt, manifest);
    },
  });

  return {
    ...refusing(source),
    async refuseRestore(attempt, manifest) {
      await refuseLoss(attempt, manifest);
      await source.refuseRestore?.(attempt, manifest);
    },
    async unpacking(signal) {
      const found = (await source.unpacking?.(signal)) ?? null;
      return found === null ? null : refusing(found);
    },
    async warnings(signal) {
      const lost = await untilAborted(signal, whatIsLost(replaced.excludes));
      const others = (await source.warnings?.(signal)) ?? [];
      return lost === null ? others : [`A restore would be refused: ${lost}.`, ...others];
    },
  };
}

const isInside = (folder: string, path: string): boolean =>
  !/^\.\.(?:\/|$)/.test(posix.relative(folder, path));

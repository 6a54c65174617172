// Wraps the source of a site or an SQLite database that may be on a mount: if the mount hangs, a backup fails, so that the
// server's other tasks can run, and a restore is refused.
import type { Host, LocalHost } from "../../hosts/host.ts";
import type { InventoryStore } from "../../inventory/store.ts";
import { mountWatch, mountWatchThere, type MountWatch } from "../../storage/mount-watch.ts";
import { StorageError } from "../../storage/storage.ts";
import { toError } from "../../to-error.ts";
import { SourceError, type CompressedDump, type Source } from "../sources/source.ts";
import { untilAborted } from "../pipeline/together.ts";

type Watching = {
  inventory: Pick<InventoryStore, "isLocal" | "findServer">;
  /** The service's machine. */
  host: LocalHost;
};

type Place = {
  serverId: number;
  path: string;
  /** The machine as the source's account sees it. */
  its: Host | LocalHost;
};

export const createSourceWatch =
  ({ inventory, host }: Watching) =>
  async (source: Source, { serverId, path, its }: Place): Promise<Source> => {
    if (await inventory.isLocal(serverId))
      return createWatchedSource(source, mountWatch(path, host));
    const server = (await inventory.findServer(serverId))?.name ?? `server ${serverId}`;
    return createWatchedSource(source, mountWatchThere({ host: its, server, root: path }));
  };

export function createWatchedSource(source: Source, watch: MountWatch): Source {
  /** Runs work only once the mount has responded, because work that hangs in it may block a thread of the service. */
  async function until<Result>(
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    try {
      if (!(await untilAborted(signal, watch.isMount()))) return await work(signal);
      return await watch.whileResponding((givenUp) => work(AbortSignal.any([signal, givenUp])));
    } catch (error) {
      throw error instanceof StorageError
        ? new SourceError(error.message, { cause: error })
        : error;
    }
  }

  const dumping =
    <Made>(dump: (...args: Parameters<Source["dump"]>) => Promise<Made>) =>
    async (...[into, attempt]: Parameters<Source["dump"]>): Promise<Made> => {
      try {
        return await until(attempt.signal, (signal) => dump(into, { ...attempt, signal }));
      } catch (error) {
        into.destroy(toError(error));
        throw error;
      }
    };

  const { state, warnings, compressed } = source;
  return {
    ...source,
    rehearse: (signal) => until(signal, (its) => source.rehearse(its)),
    exists: () => until(never, () => source.exists()),
    // Also for sources without a check of their own: a restore that has begun waits for the mount, because it cannot be aborted.
    refuseRestore: (attempt, manifest) =>
      until(
        attempt.signal,
        async (signal) => await source.refuseRestore?.({ ...attempt, signal }, manifest),
      ),
    dump: dumping((...args) => source.dump(...args)),
    ...(state !== undefined && { state: (signal) => until(signal, state) }),
    ...(warnings !== undefined && { warnings: (signal) => until(signal, warnings) }),
    ...(compressed !== undefined && {
      async compressed(...args): Promise<CompressedDump | null> {
        const found = await compressed(...args);
        return found === null ? null : { ...found, dump: dumping(found.dump) };
      },
    }),
  };
}

const never = new AbortController().signal;

// Wraps a storage whose folder may be on a mount that hangs, and abandons operations then.
import type { MountWatch } from "./mount-watch.ts";
import type { ListedStorage } from "./storage.ts";
import { streamOf } from "./stream-of.ts";

/** @param storage one that works through commands, so that its operations can be abandoned */
export function createWatchedStorage(storage: ListedStorage, watch: MountWatch): ListedStorage {
  /** @param work its signal is also aborted where the mount hangs */
  const until = <Options extends { signal: AbortSignal }, Result>(
    options: Options,
    work: (options: Options) => Promise<Result>,
  ): Promise<Result> =>
    watch.whileResponding((givenUp) =>
      work({ ...options, signal: AbortSignal.any([options.signal, givenUp]) }),
    );

  return {
    place: storage.place,
    put: (key, content, options) => until(options, (its) => storage.put(key, content, its)),
    replace: (key, content, options) => until(options, (its) => storage.replace(key, content, its)),
    readBack: (key, options) => until(options, (its) => storage.readBack(key, its)),
    size: (key) => watch.whileResponding(() => storage.size(key)),
    remove: (key) => watch.whileResponding(() => storage.remove(key)),
    freeBytes: () => watch.whileResponding(() => storage.freeBytes()),
    list: (options) => watch.each(storage.list(options)),

    async get(key, options) {
      const stored = await watch.whileResponding(() => storage.get(key, options));
      return streamOf(watch.each(stored), () => stored.destroy());
    },
  };
}

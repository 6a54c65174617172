// Checks whether the file system of a storage's folder responds. An operation on a network mount whose server is unreachable
// blocks forever, so a command checks the mount first, and again while an operation runs there.
import { setTimeout as wait } from "node:timers/promises";
import { placeOf, type RemoteFolder } from "./remote-folder.ts";
import { StorageError } from "./storage.ts";

/** Time limits in milliseconds. */
export const patience = {
  /** How long a file system may take to report its type. */
  answer: 30_000,
  /** How often it is checked while an operation runs there. */
  pause: 15_000,
};

/** Local file systems, by the names that `stat` of GNU and BusyBox prints. They do not wait for a server. */
const own =
  /^(?:ext\d(?:\/ext\d)?|xfs|btrfs|bcachefs|f2fs|zfs|jfs|reiserfs|msdos|exfat|ntfs|tmpfs|ramfs|overlayfs)$/;

/** `unknown` = `stat` failed, for example because the folder does not exist; the next operation reports that at once. */
type Kind = "disk" | "mount" | "hung" | "unknown";

/** How long a result is valid for new operations; milliseconds. */
const holdsMs: Record<Kind, number> = { disk: 60_000, mount: 2000, hung: 5000, unknown: 0 };

type Place = Pick<RemoteFolder, "host" | "root">;

/**
 * Reads the type of the file system within the time limit. `ended` resolves once `stat` has exited, which the kernel may delay.
 */
function askKind({ host, root }: Place): { kind: Promise<Kind>; ended: Promise<void> } {
  const signal = AbortSignal.timeout(patience.answer);
  const late = new Promise<Kind>((resolve) =>
    signal.addEventListener("abort", () => resolve("hung"), { once: true }),
  );
  const said = host.run({ argv: ["stat", "-f", "-c", "%T", "--", root], signal }).then(
    ({ exitCode, stdout }): Kind =>
      exitCode !== 0 ? "unknown" : own.test(stdout.trim()) ? "disk" : "mount",
    // The operation itself reports that a server is unreachable.
    (): Kind => (signal.aborted ? "hung" : "unknown"),
  );
  return { kind: Promise.race([said, late]), ended: said.then(() => undefined) };
}

export type MountWatch = ReturnType<typeof createMountWatch>;

/** @param place name of the folder in messages */
function createMountWatch(place: string, at: Place) {
  let known: { kind: Kind; untilMs: number } | null = null;
  /** Only one check at a time, because a process that hangs may be impossible to kill. */
  let asked: Promise<Kind> | null = null;

  /** @throws StorageError where the file system does not respond in time */
  async function ask(): Promise<Kind> {
    if (known === null || performance.now() >= known.untilMs) {
      if (asked === null) {
        const { kind, ended } = askKind(at);
        asked = kind;
        void ended.then(() => (asked = null));
      }
      const kind = await asked;
      known = { kind, untilMs: performance.now() + holdsMs[kind] };
    }
    if (known.kind !== "hung") return known.kind;
    throw new StorageError(
      `${place} doesn't respond: what is mounted there hangs. Look at the network and at the file server.`,
    );
  }

  /**
   * @returns a promise that rejects once the file system stops responding, and a function that must be called to end the checks
   */
  function watch() {
    const over = new AbortController();
    const hung = Promise.withResolvers<never>();
    hung.promise.catch(() => undefined);
    const look = async () => {
      for (;;) {
        await wait(patience.pause, undefined, { ref: false, signal: over.signal });
        await ask();
      }
    };
    look().catch((error: unknown) => over.signal.aborted || hung.reject(error));
    return { hung: hung.promise, end: () => over.abort() };
  }

  return {
    /**
     * Whether the folder is on a mount that may hang.
     * @throws StorageError where it hangs
     */
    isMount: async (): Promise<boolean> => (await ask()) === "mount",

    /**
     * Awaits an operation, and abandons it where the mount hangs.
     * @param work its signal is aborted then, although the operation itself may stay blocked
     * @throws the error of the operation, or StorageError
     */
    async whileResponding<Result>(
      work: (givenUp: AbortSignal) => Promise<Result>,
    ): Promise<Result> {
      const { hung, end } = watch();
      const givenUp = new AbortController();
      hung.catch((error: unknown) => givenUp.abort(error));
      try {
        return await Promise.race([work(givenUp.signal), hung]);
      } finally {
        end();
      }
    },

    /**
     * Passes on pieces that are read from the mount.
     * @throws StorageError where the mount hangs
     */
    async *each<Piece>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
      const { hung, end } = watch();
      const iterator = pieces[Symbol.asyncIterator]();
      try {
        for (;;) {
          const next = await Promise.race([iterator.next(), hung]);
          if (next.done === true) return;
          yield next.value;
        }
      } finally {
        end();
        // Not awaited, because it may hang.
        iterator.return?.().catch(() => undefined);
      }
    },
  };
}

const watches = new Map<string, MountWatch>();

/**
 * Returns the watch of a folder of this machine, which all callers share.
 * @param host runs commands on this machine
 */
export function mountWatch(root: string, host: Place["host"]): MountWatch {
  const found = watches.get(root) ?? createMountWatch(root, { host, root });
  watches.set(root, found);
  return found;
}

/** Returns a watch of a folder on a server over SSH. */
export const mountWatchThere = (folder: RemoteFolder): MountWatch =>
  createMountWatch(placeOf(folder), folder);

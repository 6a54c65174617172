// Whether the file system of a storage's folder responds. Whoever asks a network mount whose server is away waits without end: so a
// command asks first, and again for as long as something is done there.
import { setTimeout as wait } from "node:timers/promises";
import { placeOf, type RemoteFolder } from "./remote-folder.ts";
import { StorageError } from "./storage.ts";

/** In milliseconds. */
export const patience = {
  /** So long a file system may take to say what it is. */
  answer: 30_000,
  /** It is asked so often while something is done there. */
  pause: 15_000,
};

/** Disks and memory of the machine, by the names that `stat` of GNU and BusyBox has for them: their kernel responds by itself. */
const own =
  /^(?:ext\d(?:\/ext\d)?|xfs|btrfs|bcachefs|f2fs|zfs|jfs|reiserfs|msdos|exfat|ntfs|tmpfs|ramfs|overlayfs)$/;

/** `unknown`: `stat` did not say, e.g. because nothing is there; whoever goes on hears of it at once. */
type Kind = "disk" | "mount" | "hung" | "unknown";

/** What was said holds for everything that is begun so soon after it; milliseconds. */
const holdsMs: Record<Kind, number> = { disk: 60_000, mount: 2000, hung: 5000, unknown: 0 };

type Place = Pick<RemoteFolder, "host" | "root">;

/** What the file system says, in time; and what settles once nobody waits for it any more, not even the kernel. */
function askKind({ host, root }: Place): { kind: Promise<Kind>; ended: Promise<void> } {
  const signal = AbortSignal.timeout(patience.answer);
  const late = new Promise<Kind>((resolve) =>
    signal.addEventListener("abort", () => resolve("hung"), { once: true }),
  );
  const said = host.run({ argv: ["stat", "-f", "-c", "%T", "--", root], signal }).then(
    ({ exitCode, stdout }): Kind =>
      exitCode !== 0 ? "unknown" : own.test(stdout.trim()) ? "disk" : "mount",
    // That a server is away is said by what is done there.
    (): Kind => (signal.aborted ? "hung" : "unknown"),
  );
  return { kind: Promise.race([said, late]), ended: said.then(() => undefined) };
}

export type MountWatch = ReturnType<typeof createMountWatch>;

/** @param place in words */
function createMountWatch(place: string, at: Place) {
  let known: { kind: Kind; untilMs: number } | null = null;
  /** One at a time: one that hangs may be one that nobody can end. */
  let asked: Promise<Kind> | null = null;

  /** @throws StorageError where the file system does not say in time */
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

  /** @returns what rejects once it does not respond any more; to be ended in any case */
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
    /** Whether it is a mount that may hang. @throws StorageError where it does */
    isMount: async (): Promise<boolean> => (await ask()) === "mount",

    /**
     * Waits for what is done there, and gives it up where the mount hangs.
     * @param work its signal is aborted then; what it waits for may go on waiting
     * @throws what it throws, or StorageError
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

    /** Passes on what is read there, piece by piece. @throws StorageError where the mount hangs */
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
        // Not waited for: it may hang.
        iterator.return?.().catch(() => undefined);
      }
    },
  };
}

const watches = new Map<string, MountWatch>();

/** Of a folder of this machine; the same for everybody. @param host runs commands here */
export function mountWatch(root: string, host: Place["host"]): MountWatch {
  const found = watches.get(root) ?? createMountWatch(root, { host, root });
  watches.set(root, found);
  return found;
}

/** Of a folder of a server over SSH. */
export const mountWatchThere = (folder: RemoteFolder): MountWatch =>
  createMountWatch(placeOf(folder), folder);

// Opens and verifies stored backups, whether they are fulls or need one: a damaged full is told apart from a damaged file.
import type { Readable } from "node:stream";
import type { FileKey } from "../../encryption/decrypt.ts";
import type { LocalHost } from "../../hosts/host.ts";
import type { Scratch } from "../../hosts/scratch.ts";
import type { Storage } from "../../storage/storage.ts";
import { toError } from "../../to-error.ts";
import type { BackupRow } from "../backup-store.ts";
import { needsDamaged, type ChainStore } from "./chain-store.ts";
import { openPatched } from "./patch.ts";
import { checkSize, DamagedBackup, openContent, verifyStored } from "../pipeline/read-verified.ts";

/** The full that a backup needs is not what was stored. */
export class DamagedBase extends DamagedBackup {
  readonly base: BackupRow;
  /** Of the full itself. */
  readonly damage: string;

  constructor(base: BackupRow, damage: string) {
    super(needsDamaged(base.id) + damage);
    this.base = base;
    this.damage = damage;
  }
}

/** What opens the files of an encrypted backup. */
export type FileKeyPair = { own: FileKey; base: FileKey | null };

type ChainOptions = {
  store: Pick<ChainStore, "baseOf">;
  host: Pick<LocalHost, "run">;
  scratch: Pick<Scratch, "own">;
};

type OpenOptions = {
  /** Of one that is encrypted. */
  keys: FileKeyPair | null;
  /** A full is left compressed by zstd. */
  isPacked?: boolean;
};

const gone = (id: number | null) =>
  new DamagedBackup(`Backup ${id}, which it needs, no longer exists.`);

const asBase =
  (base: BackupRow) =>
  (error: unknown): never => {
    throw error instanceof DamagedBackup ? new DamagedBase(base, error.message) : error;
  };

export function createChain({ store, host, scratch }: ChainOptions) {
  /** @returns the full that it needs; null = it is one. @throws DamagedBackup where that is gone */
  async function baseOf(row: BackupRow): Promise<BackupRow | null> {
    const base = await store.baseOf(row);
    if (base === undefined) throw gone(row.base_id);
    return base;
  }

  /** Whichever of the files is looked at. */
  const both =
    (look: typeof verifyStored) =>
    async (storage: Storage, row: BackupRow, signal: AbortSignal): Promise<void> => {
      const base = await baseOf(row);
      if (base !== null) await look(storage, base, signal).catch(asBase(base));
      await look(storage, row, signal);
    };

  return {
    baseOf,

    /** Looks at the files without reading them. @throws DamagedBackup, StorageError */
    checkSize: both(checkSize),

    /** Reads the files to their end. @throws DamagedBackup, StorageError */
    verify: both(verifyStored),

    /** As the source gave it. It is verified on the way: a reader that comes to its end has had what was stored. */
    async open(
      storage: Storage,
      row: BackupRow,
      { keys, isPacked = false }: OpenOptions,
      signal: AbortSignal,
    ): Promise<Readable> {
      const base = await baseOf(row);
      const key = keys?.own ?? null;
      if (base === null) return openContent(storage, row, { key, isPacked }, signal);
      return openPatched(
        {
          host,
          folder: scratch.own,
          baseBytes: base.plain_size,
          openBase: (ending) => openBase(storage, base, keys?.base ?? null, ending),
          openPatch: (ending) => openContent(storage, row, { key, isPacked: true }, ending),
        },
        signal,
      );
    },
  };
}

export type Chain = ReturnType<typeof createChain>;

/** The content of a full, which breaks with `DamagedBase`. */
export async function* openBase(
  storage: Storage,
  base: BackupRow,
  key: FileKey | null,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  try {
    // One that is missing is damage, too.
    await checkSize(storage, base, signal);
    yield* await openContent(storage, base, { key }, signal);
  } catch (error) {
    asBase(base)(toError(error));
  }
}

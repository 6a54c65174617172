// Opens and verifies stored backups, both fulls and those that need one, and distinguishes a damaged full from a damaged file.
import type { Readable } from "node:stream";
import type { FileKey } from "../../encryption/payload.ts";
import type { LocalHost } from "../../hosts/host.ts";
import type { Scratch } from "../../hosts/scratch.ts";
import type { Storage } from "../../storage/storage.ts";
import { toError } from "../../to-error.ts";
import type { BackupRow } from "../backup-store.ts";
import { needsDamaged, type ChainStore } from "./chain-store.ts";
import { openPatched } from "./patch.ts";
import { checkSize, DamagedBackup, openContent, verifyStored } from "../pipeline/read-verified.ts";

/** The full that a backup needs is damaged. */
export class DamagedBase extends DamagedBackup {
  readonly base: BackupRow;
  /** Damage of the full itself. */
  readonly damage: string;

  constructor(base: BackupRow, damage: string) {
    super(needsDamaged(base.id) + damage);
    this.base = base;
    this.damage = damage;
  }
}

/** The keys of an encrypted backup's file and of its full. */
export type FileKeyPair = { own: FileKey; base: FileKey | null };

type ChainOptions = {
  store: Pick<ChainStore, "baseOf">;
  host: Pick<LocalHost, "run">;
  scratch: Pick<Scratch, "own">;
};

type OpenOptions = {
  /** Keys of an encrypted backup; null = it is not encrypted. */
  keys: FileKeyPair | null;
  /** Whether the content of a full stays compressed by zstd. */
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
  /** @returns the full that a backup needs; null = it is a full. @throws DamagedBackup where the full does not exist any more */
  async function baseOf(row: BackupRow): Promise<BackupRow | null> {
    const base = await store.baseOf(row);
    if (base === undefined) throw gone(row.base_id);
    return base;
  }

  /** Applies a check to a backup's file and to that of its full. */
  const both =
    (look: typeof verifyStored) =>
    async (storage: Storage, row: BackupRow, signal: AbortSignal): Promise<void> => {
      const base = await baseOf(row);
      if (base !== null) await look(storage, base, signal).catch(asBase(base));
      await look(storage, row, signal);
    };

  return {
    baseOf,

    /** Checks the sizes of the files, without reading them. @throws DamagedBackup, StorageError */
    checkSize: both(checkSize),

    /** Reads the files to their end. @throws DamagedBackup, StorageError */
    verify: both(verifyStored),

    /** Opens the content as the source wrote it. It is verified while it is read: only intact content reaches its end. */
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

/** Yields the content of a full. @throws DamagedBase where the full is damaged */
export async function* openBase(
  storage: Storage,
  base: BackupRow,
  key: FileKey | null,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  try {
    // A missing full counts as damaged, too.
    await checkSize(storage, base, signal);
    yield* await openContent(storage, base, { key }, signal);
  } catch (error) {
    asBase(base)(toError(error));
  }
}

// Decides what a copy stores: the run's file as it is or, where the full that the file needs has no copy there, its content in full.
import { dirname } from "node:path/posix";
import type { Readable } from "node:stream";
import { encryptedEnding, isEncrypted } from "../../encryption/encrypt.ts";
import type { Connection } from "../../store/database.ts";
import type { Storage } from "../../storage/storage.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import type { Chain } from "../incremental/chain.ts";
import type { ChainStore } from "../incremental/chain-store.ts";
import type { CopyStore } from "./copy-store.ts";
import { findFileKeys } from "../file-keys.ts";
import { openVerified } from "../pipeline/read-verified.ts";
import type { Resolver } from "../resolver.ts";
import { SourceError } from "../sources/source.ts";
import { isPatch, patchEnding } from "../stored-file.ts";
import { areSame, recipientsOf } from "../recovery/stored-recipients.ts";

export type CopyContentOptions = {
  store: Pick<BackupStore, "transaction" | "lock">;
  copies: Pick<CopyStore, "there">;
  chain: Pick<Chain, "open" | "baseOf">;
  chainStore: Pick<ChainStore, "setFile">;
  resolver: Pick<Resolver, "drillIdentity" | "encryption">;
};

type Places = {
  /** The storage of the run. */
  from: Storage;
  /** The storage of the copy. */
  to: Storage;
  /** Folder of the copy, in its storage. */
  folder: string;
};

export type CopyContent = {
  /** The copy of the full that the file needs; null = it needs none. */
  base: BackupRow | null;
  /** Estimate of the stored bytes; for content in full, from the size of the full that the file needs. */
  expectedBytes: number;
  /** Whether the file is copied as it is, without compression; otherwise its content is, decrypted where necessary. */
  isPacked: boolean;
  /** Extension of the file, e.g. `.dump.patch.zst`. */
  ending: string;
  /** Opens what is stored. It is verified while it is read. */
  open(signal: AbortSignal): Promise<Readable>;
};

const endingOf = (path: string): string => {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.slice(name.indexOf("."));
};

export function createCopyContent(options: CopyContentOptions) {
  const { store, copies, chain, chainStore, resolver } = options;

  /** Whether the copies of a file and of its full can be opened with the same identity, as restores require. */
  async function isOpenedAlike(
    run: BackupRow,
    base: BackupRow,
    to: Storage,
    signal: AbortSignal,
  ): Promise<boolean> {
    // Both were copied as they are, and the run itself needs no full that is encrypted differently.
    if (isEncrypted(run.path)) return isEncrypted(base.path);
    const encryption = await resolver.encryption(base.storage_provider_id);
    if (encryption === null) return !isEncrypted(base.path);
    if (!isEncrypted(base.path)) return false;
    const its = await recipientsOf(to, base, signal);
    return its !== null && areSame(its, encryption.recipients);
  }

  /** Finds a copy of the full in the folder of the copy, where the manifest of the file refers to it. */
  async function findBase(
    run: BackupRow,
    copy: BackupRow,
    { to, folder }: Places,
    signal: AbortSignal,
  ) {
    const { base_id: baseId } = run;
    if (baseId === null) return null;
    const found = await store.transaction((tx) =>
      copies.there(tx, baseId, copy.storage_provider_id),
    );
    const isThere = found?.status === "finished" && dirname(found.path) === folder;
    return isThere && (await isOpenedAlike(run, found, to, signal)) ? found : null;
  }

  async function keysOf(
    run: BackupRow,
    full: BackupRow | null,
    from: Storage,
    signal: AbortSignal,
  ) {
    if (!isEncrypted(run.path)) return null;
    const identity = await resolver.drillIdentity(run.storage_provider_id);
    if (identity === null)
      throw new SourceError(
        `Backup ${run.id} holds what has changed since backup ${run.base_id}, of which there is no copy, and the storage provider has no drill_identity to read both. The next full backup can be copied.`,
      );
    return findFileKeys(from, { row: run, base: full }, { identity }, signal);
  }

  return {
    async find(
      run: BackupRow,
      copy: BackupRow,
      places: Places,
      signal: AbortSignal,
    ): Promise<CopyContent> {
      const { from } = places;
      const base = await findBase(run, copy, places, signal);
      const ending = endingOf(run.path);
      if (base !== null || !isPatch(run.path))
        return {
          base,
          expectedBytes: run.size,
          isPacked: true,
          ending,
          open: (stopping) => openVerified(from, run, stopping),
        };
      const full = await chain.baseOf(run);
      const keys = await keysOf(run, full, from, signal);
      return {
        base: null,
        expectedBytes: full?.size ?? run.size,
        isPacked: false,
        ending: ending.replace(patchEnding, "").replace(encryptedEnding, ""),
        open: (stopping) => chain.open(from, run, { keys }, stopping),
      };
    },

    /** Stores that the copy needs the full. @returns the new row. @throws SourceError where the full is being deleted */
    async hold(tx: Connection, copy: BackupRow, base: BackupRow | null): Promise<BackupRow> {
      if (base !== null && (await store.lock(tx, base.id))?.status !== "finished")
        throw new SourceError(
          `Backup ${base.id}, which the copy needs, was deleted meanwhile. Copy the backup again.`,
        );
      return chainStore.setFile(tx, copy, { path: copy.path, base_id: base?.id ?? null });
    },
  };
}

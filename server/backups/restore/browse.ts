// Browses the content of a backup's file.
import { canBackup } from "../../../contract/backups/backup.ts";
import type { BrowseArchiveBody, BrowseObjectsBody } from "../../../contract/backups/bodies.ts";
import type { ArchiveFiles, ArchiveObjects } from "../../../contract/backups/contents.ts";
import { isEncrypted } from "../../encryption/encrypt.ts";
import type { Host } from "../../hosts/host.ts";
import { conflict, InvalidFields } from "../../http/service-error.ts";
import type { Storage } from "../../storage/storage.ts";
import type { ArchiveListings } from "./archive-listing.ts";
import type { BackupRow } from "../backup-store.ts";
import type { Chain, FileKeyPair } from "../incremental/chain.ts";
import type { ObjectListings } from "./object-listing.ts";
import { asConflict, createOpenStored, identityMissing, type GivenFields } from "../open-stored.ts";
import type { Resolver } from "../resolver.ts";
import { readObjects } from "../sources/postgres/archive-objects.ts";
import { engineOfPath, type Engine } from "../subject.ts";

type BrowseOptions = {
  resolver: Pick<Resolver, "storage">;
  chain: Chain;
  listings: ArchiveListings;
  objectListings: ObjectListings;
  /** This machine, whose tools read archives. */
  host: Host;
  /** Called where the file of a backup that counts as good turns out missing or damaged. */
  onDamage: (row: BackupRow) => Promise<void>;
};

/** How long a request waits for the beginning of an archive. */
const beginningMs = 25_000;

type Listings<Kept> = { find(backupId: number, id: string | undefined): Kept | null };
type Given = GivenFields & { listing?: string | undefined };

export function createBrowse(options: BrowseOptions) {
  const { chain, listings, objectListings, host } = options;
  const { findFile, openFile, noted } = createOpenStored(options);

  /** @throws a conflict */
  function refuseOther(row: BackupRow, wanted: Engine, words: string): void {
    if (!canBackup.restore(row))
      throw conflict(`Only a finished backup can be browsed. The backup is ${row.status}.`);
    const engine = engineOfPath(row.path);
    if (engine !== null && engine !== wanted) throw conflict(words);
  }

  /**
   * @param begin reads the file
   * @throws a conflict, or InvalidFields
   */
  async function look<Kept, Found>(
    row: BackupRow,
    { listing, identity, passphrase }: Given,
    kept: Listings<Kept>,
    begin: (storage: Storage, keys: FileKeyPair | null) => Kept,
    show: (kept: Kept) => Promise<Found>,
  ): Promise<Found> {
    // For an encrypted backup, the id of a listing proves that the caller has opened it before.
    const isReusable = !isEncrypted(row.path) || listing !== undefined;
    const known = isReusable ? kept.find(row.id, listing) : null;
    try {
      if (known !== null) return await show(known);
      if (isEncrypted(row.path) && (identity ?? "").trim() === "")
        throw new InvalidFields({ identity: [identityMissing] });
      const storage = await findFile(row);
      const keys = await openFile(row, { identity, passphrase });
      return await show(begin(storage, keys));
    } catch (error) {
      return asConflict(error);
    }
  }

  /** Reads only the beginning of the file, so that it cannot be verified. */
  async function objectsIn(storage: Storage, row: BackupRow, keys: FileKeyPair | null) {
    const ending = new AbortController();
    const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(beginningMs)]);
    try {
      const archive = await noted(row, chain.open(storage, row, { keys }, signal));
      return await readObjects(host, archive, signal);
    } finally {
      ending.abort();
    }
  }

  return {
    async files(row: BackupRow, body: BrowseArchiveBody): Promise<ArchiveFiles> {
      refuseOther(row, "folder", "Only backups of a site's folder hold files.");
      return look(
        row,
        body,
        listings,
        (storage, keys) =>
          listings.begin(row.id, (signal) =>
            noted(row, chain.open(storage, row, { keys }, signal)),
          ),
        (kept) => listings.look(kept, body),
      );
    },

    async objects(row: BackupRow, body: BrowseObjectsBody): Promise<ArchiveObjects> {
      refuseOther(row, "postgres", "Only backups of PostgreSQL have a table of contents.");
      return look(
        row,
        body,
        objectListings,
        (storage, keys) => objectListings.begin(row.id, () => objectsIn(storage, row, keys)),
        (kept) => objectListings.look(kept, body),
      );
    },
  };
}

export type Browse = ReturnType<typeof createBrowse>;

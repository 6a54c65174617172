// Looks into the archive of a folder, for whoever wants one file of it.
import { canBackup } from "../../contract/backups/backup.ts";
import type { BrowseArchiveBody } from "../../contract/backups/bodies.ts";
import type { ArchiveFiles } from "../../contract/backups/contents.ts";
import { isEncrypted } from "../encryption/encrypt.ts";
import { conflict, InvalidFields } from "../http/service-error.ts";
import type { ArchiveListings } from "./archive-listing.ts";
import type { BackupRow } from "./backup-store.ts";
import { asConflict, createOpenStored, identityMissing } from "./open-stored.ts";
import { openContent } from "./pipeline.ts";
import type { Resolver } from "./resolver.ts";
import { engineOfPath } from "./subject.ts";

type BrowseOptions = { resolver: Pick<Resolver, "storage">; listings: ArchiveListings };

export function createBrowse({ resolver, listings }: BrowseOptions) {
  const { findFile, openFile } = createOpenStored(resolver);

  /** @throws a conflict, or InvalidFields */
  return async (row: BackupRow, body: BrowseArchiveBody): Promise<ArchiveFiles> => {
    if (!canBackup.restore(row))
      throw conflict(`Only a finished backup can be browsed. The backup is ${row.status}.`);
    const engine = engineOfPath(row.path);
    if (engine !== null && engine !== "folder")
      throw conflict("Only backups of a site's folder hold files.");
    const { listing, identity, passphrase } = body;
    // Of an encrypted one whoever knows a listing has opened it.
    const isReusable = !isEncrypted(row.path) || listing !== undefined;
    const kept = isReusable ? listings.find(row.id, listing) : null;
    try {
      if (kept !== null) return await listings.look(kept, body);
      if (isEncrypted(row.path) && (identity ?? "").trim() === "")
        throw new InvalidFields({ identity: [identityMissing] });
      const storage = await findFile(row);
      const key = await openFile(row, { identity, passphrase });
      return await listings.look(
        listings.begin(row.id, (signal) => openContent(storage, row, { key }, signal)),
        body,
      );
    } catch (error) {
      return asConflict(error);
    }
  };
}

export type Browse = ReturnType<typeof createBrowse>;

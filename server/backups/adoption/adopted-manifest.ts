// Reads what an adopted backup of a site excluded. Rows that earlier versions adopted lack it, so that it is read from the manifest file.
import { buffer } from "node:stream/consumers";
import { StorageError } from "../../storage/storage.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import type { Resolver } from "../resolver.ts";
import { SourceError } from "../sources/source.ts";
import { manifestKeyOf } from "../stored-file.ts";
import { storedManifestSchema } from "../recovery/stored-manifest.ts";

type Options = { store: Pick<BackupStore, "byId">; resolver: Pick<Resolver, "storage"> };

/** @returns the manifest of a backup, with its excludes @throws SourceError where those are unknown, or the signal's reason */
export async function readAdopted(
  row: BackupRow,
  { store, resolver }: Options,
  signal: AbortSignal,
): Promise<BackupRow["manifest"]> {
  const { manifest, trigger, copy_of_id: copied } = row;
  if (manifest?.["kind"] !== "folder" || manifest["excluded"] !== undefined) return manifest;
  // The manifest beside a copy was made from the row of the backup.
  const adopted = trigger === "copy" && copied !== null ? await store.byId(copied) : row;
  if (adopted?.trigger !== "adopted") return manifest;
  const { path, storage_provider_id: provider, checksum } = adopted;
  try {
    const storage = await resolver.storage(provider);
    const written = await buffer(await storage.get(manifestKeyOf(path), { signal, isSmall: true }));
    const { counts, sha256 } = storedManifestSchema.parse(JSON.parse(written.toString()));
    if (sha256 !== checksum) throw new StorageError("It is the manifest of another file.");
    const { excluded } = counts;
    return excluded === undefined ? manifest : { ...manifest, excluded };
  } catch (error) {
    signal.throwIfAborted();
    const why = error instanceof StorageError ? error.message : "It is damaged.";
    throw new SourceError(
      `The manifest beside ${path} can't be read, and only it says what the backup left out, such as uploads, which a restore would delete: ${why} Put the manifest back, or move the site's folder away and restore without a backup of current data.`,
    );
  }
}

// For whom a stored file is encrypted, as the manifest beside it says.
import { buffer } from "node:stream/consumers";
import type { Storage } from "../../storage/storage.ts";
import type { BackupRow } from "../backup-store.ts";
import { manifestKeyOf } from "../stored-file.ts";
import { storedManifestSchema, type Recipients } from "./stored-manifest.ts";

/** @returns null = nobody knows: its manifest is missing, cannot be read, or says nothing of it. @throws the signal's reason */
export async function recipientsOf(
  storage: Storage,
  { path }: Pick<BackupRow, "path">,
  signal: AbortSignal,
): Promise<Recipients | null> {
  try {
    const written = await buffer(await storage.get(manifestKeyOf(path), { signal, isSmall: true }));
    const parsed = storedManifestSchema.safeParse(JSON.parse(written.toString()));
    return parsed.data?.encryption?.recipients ?? null;
  } catch {
    // A file without one is a backup all the same.
    signal.throwIfAborted();
    return null;
  }
}

/** Whether both have the same recipients, in any order. An inventory may list one twice. */
export const areSame = (one: Recipients, other: Recipients): boolean =>
  new Set(one).symmetricDifference(new Set(other)).size === 0;

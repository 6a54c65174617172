// Reads the recipients of a stored file from the manifest beside it.
import { buffer } from "node:stream/consumers";
import type { Storage } from "../../storage/storage.ts";
import type { BackupRow } from "../backup-store.ts";
import { manifestKeyOf } from "../stored-file.ts";
import { storedManifestSchema, type Recipients } from "./stored-manifest.ts";

/** Returns the recipients; null = unknown, because the manifest is missing, unreadable or does not contain them. @throws the signal's reason */
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
    // A stored file without a manifest is still a valid backup.
    signal.throwIfAborted();
    return null;
  }
}

/** Whether both have the same recipients, in any order. */
export const areSame = (one: Recipients, other: Recipients): boolean =>
  new Set(one).symmetricDifference(new Set(other)).size === 0;

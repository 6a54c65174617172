// Limits the size of an imported file, as sent and decompressed, by the space in the storage.
import { maxImportBytes } from "../../../contract/backups/import.ts";
import type { Storage } from "../../storage/storage.ts";
import { sizeInWords } from "../formatting.ts";

export type ImportRoom = {
  bytes: number;
  /** Follows “larger than”: the limit, its reason, and what to do. */
  words: string;
};

/** @throws StorageError */
export async function importRoomIn(
  storage: Pick<Storage, "freeBytes" | "place">,
): Promise<ImportRoom> {
  const free = await storage.freeBytes();
  return free === null
    ? {
        bytes: maxImportBytes,
        words: `${sizeInWords(maxImportBytes)}, which is the most in ${storage.place}, because that doesn't tell what is free. Choose another storage.`,
      }
    : {
        bytes: free,
        words: `the ${sizeInWords(free)} that are free in ${storage.place}. Free some space, or choose another storage.`,
      };
}

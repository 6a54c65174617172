// Which other backups hold the same data as one that cannot be read.
import { StorageError } from "../storage/storage.ts";
import type { BackupRow } from "./backup-store.ts";
import type { CopyStore } from "./copy-store.ts";
import { DamagedBackup } from "./read-verified.ts";

export type Twins = Pick<CopyStore, "twinsOf">;

/** @returns the end of a message; empty where there is none, or something else went wrong */
export async function sayTwins(copies: Twins, row: BackupRow, error: unknown): Promise<string> {
  if (!(error instanceof DamagedBackup || error instanceof StorageError)) return "";
  const twins = await copies.twinsOf(row);
  return twins
    .map(({ id, storage }) => ` The same data is in ${storage}: restore backup ${id} instead.`)
    .join("");
}

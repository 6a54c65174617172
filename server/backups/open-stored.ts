// Opens stored files for requests: checks that a file exists, finds the keys of an encrypted one, and has damage recorded.
import type { Readable } from "node:stream";
import { RefusedIdentity, type GivenIdentity } from "../encryption/decrypt.ts";
import { EncryptionError } from "../encryption/encryption-error.ts";
import { isEncrypted } from "../encryption/encrypt.ts";
import { conflict, InvalidFields, ServiceError } from "../http/service-error.ts";
import type { Storage } from "../storage/storage.ts";
import type { BackupRow } from "./backup-store.ts";
import type { Chain, FileKeyPair } from "./incremental/chain.ts";
import { PatchRefused } from "./incremental/patch.ts";
import { failureMessage } from "./failure-message.ts";
import { findFileKeys } from "./file-keys.ts";
import { DamagedBackup } from "./pipeline/read-verified.ts";
import { describeUnpackError } from "./pipeline/unpack-error.ts";
import type { Resolver } from "./resolver.ts";

/** The identity as fields of a request. */
export type GivenFields = { [Field in keyof GivenIdentity]?: GivenIdentity[Field] | undefined };

export const identityMissing =
  "The identity field is required: the backup is encrypted, and only your private key opens it.";

export const asConflict = (error: unknown): never => {
  throw error instanceof ServiceError ? error : conflict(failureMessage(error));
};

/** Content that cannot be decrypted or decompressed ends the reading before the file's checksum is known. */
const mayBeDamage = (error: unknown): boolean =>
  error instanceof DamagedBackup ||
  error instanceof EncryptionError ||
  error instanceof PatchRefused ||
  describeUnpackError(error) !== null;

type OpenStoredOptions = {
  resolver: Pick<Resolver, "storage">;
  chain: Pick<Chain, "baseOf">;
  /** Called where the file of a backup that counts as good turns out missing or damaged. */
  onDamage: (row: BackupRow) => Promise<void>;
};

export function createOpenStored({ resolver, chain, onDamage }: OpenStoredOptions) {
  /** Returns the storage of a stored file whose size is correct. @throws a conflict for any other */
  async function findFile(row: BackupRow): Promise<Storage> {
    if (row.status !== "finished")
      throw conflict(`Only a finished backup has a file. The backup is ${row.status}.`);
    const storage = await resolver.storage(row.storage_provider_id).catch(asConflict);
    const size = await storage.size(row.path).catch(asConflict);
    if (size === row.size) return storage;
    if (row.damage === null) await onDamage(row);
    throw conflict(
      size === null
        ? "The stored file is missing."
        : `The stored file is damaged: it has ${size} bytes instead of ${row.size}.`,
    );
  }

  const noteDamage = (row: BackupRow, error: unknown): void => {
    if (row.damage !== null || !mayBeDamage(error)) return;
    // The reader gets the error of the file. What cannot be recorded now is found by the weekly verification.
    onDamage(row).catch(() => undefined);
  };

  /** Has damage recorded that reading a stored file shows, at its beginning or later. */
  async function noted(row: BackupRow, opening: Promise<Readable>): Promise<Readable> {
    try {
      return (await opening).once("error", (error) => noteDamage(row, error));
    } catch (error) {
      noteDamage(row, error);
      throw error;
    }
  }

  /** @returns the keys of an encrypted backup; null for any other. @throws a conflict, or InvalidFields */
  async function openFile(
    row: BackupRow,
    { identity = "", passphrase }: GivenFields,
  ): Promise<FileKeyPair | null> {
    if (!isEncrypted(row.path)) return null;
    const storage = await findFile(row);
    const ending = new AbortController();
    try {
      const files = { row, base: await chain.baseOf(row) };
      return await findFileKeys(storage, files, { identity, passphrase }, ending.signal);
    } catch (error) {
      if (error instanceof RefusedIdentity)
        throw new InvalidFields({ [error.field]: [error.message] });
      return asConflict(error);
    } finally {
      ending.abort();
    }
  }

  return { findFile, openFile, noted };
}

// Tests a database or storage provider from a form, before it is in the inventory.
import { utcText } from "../../contract/values.ts";
import { recipientsOf } from "../encryption/decrypt.ts";
import { EncryptionError } from "../encryption/encryption-error.ts";
import type { EntryTests } from "../inventory/try-entries.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import { sizeInWords } from "./formatting.ts";
import { rehearseStorage } from "../storage/rehearse.ts";
import type { EntryResolver } from "./resolver.ts";

/** Folder in which a storage is tested. */
const directory = "quarterdeck-test";

/** @param resolverWith returns a resolver that also finds secrets from the form */
export const createEntryTests = (
  resolverWith: (secrets: SecretReader) => EntryResolver,
): Pick<EntryTests, "database" | "storage"> => ({
  async database(row, secrets, signal) {
    const source = await resolverWith(secrets).sourceOf(row);
    const message = await source.rehearse(signal);
    return { message, details: (await source.warnings?.(signal)) ?? [] };
  },

  async storage(entry, secrets, signal) {
    const storage = await resolverWith(secrets).storageOf(entry);
    const { recipients, drill_identity: reference } = entry;
    if (recipients !== undefined) await resolverWith(secrets).encryptionOf(recipients);
    if (reference !== undefined) {
      const opened = await recipientsOf(await secrets.read(reference, "the drill_identity"));
      if (!opened.some((one) => recipients?.includes(one)))
        throw new EncryptionError(
          "The drill_identity opens nothing here: its public key is none of the recipients.",
        );
    }
    const { details, keptUntil } = await rehearseStorage(
      storage,
      { folder: directory, attempt: null },
      signal,
    );
    const free = await storage.freeBytes();
    return {
      message:
        keptUntil === null
          ? `A test file was written to ${storage.place}, read back and deleted.`
          : `A test file was written to ${storage.place} and read back. It is locked there until ${utcText(keptUntil)}.`,
      details: [...details, ...(free === null ? [] : [`${sizeInWords(free)} free`])],
    };
  },
});

// Prepares a copy: opens both storages, and decides the path, content and encryption of its file.
import { encryptedEnding, isEncrypted } from "../../encryption/encrypt.ts";
import type { Claim } from "../../jobs/job-runner.ts";
import { StorageError, type Storage } from "../../storage/storage.ts";
import type { BackupRow } from "../backup-store.ts";
import type { ConfigurationRow } from "../configuration-store.ts";
import type { CopyContent, createCopyContent } from "./copy-content.ts";
import type { CopyQueue } from "./copy-queue.ts";
import { sizeInWords } from "../formatting.ts";
import type { Output } from "../output.ts";
import type { EntryResolver, Resolver } from "../resolver.ts";
import { SourceError } from "../sources/source.ts";
import { areSame, recipientsOf } from "../recovery/stored-recipients.ts";
import { folderOf } from "../run/take-backup.ts";
import { untilAborted } from "../pipeline/together.ts";

type PrepareCopyOptions = {
  contents: Pick<ReturnType<typeof createCopyContent>, "find">;
  copyQueue: Pick<CopyQueue, "nameOf">;
  resolver: Pick<Resolver & EntryResolver, "encryption" | "encryptionOf" | "storage">;
};

/** A copy that is being performed. */
export type CopyWork = {
  run: BackupRow;
  configuration: ConfigurationRow;
  output: Output;
  signal: AbortSignal;
  claim: Claim;
};

export function createPrepareCopy({ contents, copyQueue, resolver }: PrepareCopyOptions) {
  /** Decides how the copy is encrypted, and for which recipients. The content of an encrypted backup is never stored in plain text. */
  async function planEncryption(
    from: Storage,
    copy: BackupRow,
    { isPacked }: CopyContent,
    { run, output, signal }: CopyWork,
  ) {
    const encryption = await resolver.encryption(copy.storage_provider_id);
    if (!isEncrypted(run.path))
      return { encrypt: encryption?.encrypt ?? null, recipients: encryption?.recipients };
    const recipients = await recipientsOf(from, run, signal);
    if (!isPacked && recipients === null)
      throw new SourceError(
        `The manifest of backup ${run.id} doesn't say for whom it is encrypted, so it can't be copied in full. The next full backup can be copied.`,
      );
    if (!areSame(recipients ?? [], encryption?.recipients ?? []))
      output.say(
        `The file is encrypted for the recipients of ${await copyQueue.nameOf(run.storage_provider_id)}${isPacked ? " and is copied as it is" : ", and so is its copy"}; ${encryption === null ? "the second storage has none" : "those of the second storage can't open it"}.`,
      );
    return isPacked || recipients === null
      ? { encrypt: null, recipients: recipients ?? undefined }
      : resolver.encryptionOf(recipients);
  }

  async function checkRoom(
    storage: Storage,
    { expectedBytes, isPacked }: CopyContent,
  ): Promise<void> {
    const free = await storage.freeBytes();
    if (free === null || free >= expectedBytes) return;
    const needed = isPacked
      ? `the backup has ${sizeInWords(expectedBytes)}`
      : `in full the backup takes about ${sizeInWords(expectedBytes)}`;
    throw new StorageError(
      `Not enough space in ${storage.place}: ${sizeInWords(free)} free, and ${needed}. Free some space or delete old backups.`,
    );
  }

  /**
   * Opens both storages.
   * @param number part of the file's name, which makes it unique
   * @returns both storages, and the path, content and encryption of the file
   */
  return async (copy: BackupRow, number: number, work: CopyWork) => {
    const { run, configuration, output, signal } = work;
    const { storage_provider_id: there } = copy;
    const { storage_provider_id: here } = run;
    output.say(
      `Copying backup ${run.id} from ${await copyQueue.nameOf(here)} to ${await copyQueue.nameOf(there)}.`,
    );
    const storage = await resolver.storage(there);
    const from = await resolver.storage(here);
    const folder = folderOf(configuration);
    const content = await contents.find(run, copy, { from, to: storage, folder }, signal);
    if (run.base_id !== null && content.base === null)
      output.say(
        `Storing it in full: backup ${run.base_id}, which it needs, has no copy there, or only in another folder or encrypted otherwise.`,
      );
    await untilAborted(signal, checkRoom(storage, content));
    const encryption = await planEncryption(from, copy, content, work);
    const time = run.started_at.toISOString().replace(/[-:]|\.\d+/g, "");
    const key = `${folder}/${copy.id}-${time}-${number}${content.ending}`;
    const path = encryption.encrypt === null ? key : `${key}${encryptedEnding}`;
    return { storage, content, encryption, path };
  };
}

export type PreparedCopy = Awaited<ReturnType<ReturnType<typeof createPrepareCopy>>>;

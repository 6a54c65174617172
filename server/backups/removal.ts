// Removes a stored backup: the file first, the row second. A removal that fails is tried again until the file is gone,
// because a row is all that leads to its file.
import type { Logger } from "pino";
import type { JobData, Jobs } from "../jobs/jobs.ts";
import type { Connection } from "../store/database.ts";
import type { BackupRow, BackupStore } from "./backup-store.ts";
import type { Resolver } from "./resolver.ts";
import { failureMessage } from "./failure-message.ts";
import type { RecoveryWriter } from "./recovery-writer.ts";
import { removeStored } from "./stored-file.ts";

type RemovalOptions = {
  store: BackupStore;
  resolver: Resolver;
  jobs: Jobs;
  recovery: Pick<RecoveryWriter, "request">;
  log: Logger;
};

const deadlineSeconds = 600;
const retryHint = "Quarterdeck retries within the hour. Delete it again to retry now.";

export function createRemoval({ store, resolver, jobs, recovery, log }: RemovalOptions) {
  const fail = (row: BackupRow, reason: string) =>
    store.transaction((tx) =>
      store.move(tx, row, "failed", { status_reason: `${reason} ${retryHint}` }),
    );

  const sendDeleting = async (tx: Connection, row: BackupRow) =>
    jobs.send(tx, "backup.deleting", {
      ...jobReference(row),
      server_id: await store.serverIdOf(tx, row),
    });

  return {
    /** @returns false when somebody else moved the backup first */
    async begin(tx: Connection, row: BackupRow): Promise<boolean> {
      const deleting = await store.move(tx, row, "deleting", { status_reason: null });
      if (deleting === null) return false;
      await sendDeleting(tx, deleting);
      await jobs.send(tx, "backup.deadline", jobReference(deleting), deadlineSeconds);
      return true;
    },

    async finish({ id, transition }: JobData["backup.deleting"]): Promise<void> {
      const row = await store.byId(id);
      if (row === null || row.transition !== transition) return;
      try {
        // A failed run has no file.
        if (row.path !== "")
          await removeStored(await resolver.storage(row.storage_provider_id), row.path);
      } catch (error) {
        log.error({ err: error, backup: id }, "a backup's file was not removed");
        await fail(row, `Couldn't delete the stored file: ${failureMessage(error)}`);
        return;
      }
      await store.transaction((tx) => store.remove(tx, row));
      if (row.path !== "") recovery.request(row.storage_provider_id);
    },

    /** Ends a removal that lasted too long. */
    async expire({ id, transition }: JobData["backup.deadline"]): Promise<void> {
      const row = await store.byId(id);
      if (row?.transition !== transition || row.status !== "deleting") return;
      await fail(row, `Timed out: still deleting after ${deadlineSeconds} s.`);
    },

    /** At the start: the job queue would notice only after an hour that nobody does these jobs any more. */
    async resume(): Promise<void> {
      for (const row of await store.deleting())
        await store.transaction((tx) => sendDeleting(tx, row));
    },
  };
}

export type Removal = ReturnType<typeof createRemoval>;

const jobReference = ({ id, transition }: BackupRow) => ({ id, transition });

// Removes a stored backup: first the file, then the row. A failed removal is retried until the file is removed, because only the row
// refers to the file.
import type { Logger } from "pino";
import type { JobData } from "../../jobs/job-data.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import { ObjectLocked } from "../../storage/storage.ts";
import { theService } from "../../activity/actor.ts";
import { recordActivity } from "../../activity/store.ts";
import type { Connection } from "../../store/database.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import type { ConfigurationStore } from "../configuration-store.ts";
import type { Resolver } from "../resolver.ts";
import { failureMessage } from "../failure-message.ts";
import type { RecoveryWriter } from "../recovery/recovery-writer.ts";
import { backupEntry } from "../event-data.ts";
import { removeStored } from "../stored-file.ts";

type RemovalOptions = {
  store: BackupStore;
  configurations: Pick<ConfigurationStore, "lock">;
  resolver: Resolver;
  jobs: Jobs;
  recovery: Pick<RecoveryWriter, "request">;
  log: Logger;
};

const deadlineSeconds = 600;
const retryHint = "Quarterdeck retries within the hour. Delete it again to retry now.";

export function createRemoval(options: RemovalOptions) {
  const { store, configurations, resolver, jobs, recovery, log } = options;

  const fail = (row: BackupRow, reason: string) =>
    store.transaction((tx) =>
      store.move(tx, row, "failed", { status_reason: `${reason} ${retryHint}` }),
    );

  /** Restores the status of a backup that its storage still locks, instead of retrying until the lock ends. */
  const keep = (row: BackupRow, { until, message }: ObjectLocked) =>
    store.transaction(async (tx) => {
      const configuration = await configurations.lock(tx, row.configuration_id);
      const change = { status_reason: null, locked_until: until };
      const kept = await store.move(tx, row, "finished", change);
      if (kept !== null && configuration !== null)
        await recordActivity(
          tx,
          backupEntry(configuration, kept, "not deleted", {
            outcome: "bad",
            actor: theService,
            detail: message,
          }),
        );
    });

  return {
    /** @returns false where its status was changed meanwhile */
    async begin(tx: Connection, row: BackupRow): Promise<boolean> {
      const deleting = await store.move(tx, row, "deleting", { status_reason: null });
      if (deleting === null) return false;
      await jobs.send(tx, "backup.deleting", {
        ...jobReference(deleting),
        server_id: await store.serverIdOf(tx, deleting),
      });
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
        if (error instanceof ObjectLocked) {
          await keep(row, error);
          return;
        }
        log.error({ err: error, backup: id }, "a backup's file was not removed");
        await fail(row, `Couldn't delete the stored file: ${failureMessage(error)}`);
        return;
      }
      await store.transaction((tx) => store.remove(tx, row));
      if (row.path !== "") recovery.request(row.storage_provider_id);
    },

    /** Fails a removal that has reached its deadline. */
    async expire({ id, transition }: JobData["backup.deadline"]): Promise<void> {
      const row = await store.byId(id);
      if (row?.transition !== transition || row.status !== "deleting") return;
      await fail(row, `Timed out: still deleting after ${deadlineSeconds} s.`);
    },
  };
}

export type Removal = ReturnType<typeof createRemoval>;

const jobReference = ({ id, transition }: BackupRow) => ({ id, transition });

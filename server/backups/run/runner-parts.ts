// Shared parts of runs and copies: stores their progress, and cleans up after a runner that lost its claim.
import type { Logger } from "pino";
import type { Claim } from "../../jobs/job-runner.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import { operatorMessage } from "../failure-message.ts";
import type { Output } from "../output.ts";
import type { Resolver } from "../resolver.ts";
import { removeStored } from "../stored-file.ts";
import type { TaskStore } from "../tasks/task-store.ts";

type RunnerPartsOptions = {
  store: Pick<BackupStore, "byId" | "progress">;
  tasks: Pick<TaskStore, "isHeld">;
  resolver: Pick<Resolver, "storage">;
  log: Logger;
};

/** Interval at which progress is stored. */
const progressMs = 500;

export function createRunnerParts({ store, tasks, resolver, log }: RunnerPartsOptions) {
  /** Removes the file of a runner that was considered dead, and stored its file after the cleanup. */
  async function removeUnwanted({ id, path, storage_provider_id }: BackupRow): Promise<void> {
    const now = await store.byId(id);
    // Any other row may have this very outcome, whose response was lost.
    if (path === "" || now?.status !== "failed" || now.path !== "") return;
    await removeStored(await resolver.storage(storage_provider_id), path);
  }

  return {
    /** Stores the progress of a run at intervals. @returns a function that stops it */
    reportProgress(
      row: BackupRow,
      output: Output,
      bytes: { plainBytes: number; storedBytes: number },
      claim: Claim,
    ): () => Promise<void> {
      let writing = Promise.resolve();
      let written = "";
      const write = () => {
        const state = `${bytes.storedBytes} ${bytes.plainBytes} ${output.text()}`;
        if (state === written) return;
        written = state;
        writing = store
          .progress(
            row.id,
            {
              output: output.text(),
              plain_size: bytes.plainBytes,
              stored_bytes: bytes.storedBytes,
            },
            tasks.isHeld(claim),
          )
          // Only logged, because the outcome is what counts and is stored with its own check.
          .catch((error: unknown) => log.warn({ err: error }, "a run's progress was not stored"));
      };
      const timer = setInterval(write, progressMs);
      return async () => {
        clearInterval(timer);
        await writing;
      };
    },

    /**
     * Stores the failure of a backup, and cleans up where its status was changed meanwhile.
     * @param fail stores it; returns false where the status was changed meanwhile
     */
    async storeFailure(
      row: BackupRow,
      error: unknown,
      fail: () => Promise<boolean>,
    ): Promise<void> {
      if (operatorMessage(error) === null)
        log.error({ err: error, backup: row.id }, "a backup failed unexpectedly");
      let isStored = false;
      try {
        isStored = await fail();
      } finally {
        if (!isStored)
          await removeUnwanted(row).catch((cause: unknown) =>
            log.warn({ err: cause, backup: row.id }, "an unwanted file was not removed"),
          );
      }
    },
  };
}

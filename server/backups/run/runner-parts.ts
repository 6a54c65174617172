// What all that stores backups does beside: writes down how far it is, and cleans up behind a runner that came too late.
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

/** How often what a run has done so far is written down. */
const progressMs = 500;

export function createRunnerParts({ store, tasks, resolver, log }: RunnerPartsOptions) {
  /** A runner that was thought dead may have stored its file after somebody had cleaned up behind it. */
  async function removeUnwanted({ id, path, storage_provider_id }: BackupRow): Promise<void> {
    const now = await store.byId(id);
    // Any other row may be of the very outcome whose answer was lost on its way here.
    if (path === "" || now?.status !== "failed" || now.path !== "") return;
    await removeStored(await resolver.storage(storage_provider_id), path);
  }

  return {
    /** Writes down what a run did so far, now and then; the answer ends that. */
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
          // The outcome is what counts, and it is written with a check of its own.
          .catch((error: unknown) => log.warn({ err: error }, "a run's progress was not stored"));
      };
      const timer = setInterval(write, progressMs);
      return async () => {
        clearInterval(timer);
        await writing;
      };
    },

    /**
     * Stores how a backup failed, and cleans up where somebody else has done so.
     * @param fail stores it; false where the row had been moved by then
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

// Puts copies into the queues of their servers: of a run that has just stored its file, and of what is missing since.
import { copyTarget } from "../../../contract/backups/copies.ts";
import type { Clock } from "../../clock.ts";
import type { InventoryStore } from "../../inventory/store.ts";
import type { Connection } from "../../store/database.ts";
import { createAddTasks, type AddTasksOptions } from "../tasks/add-tasks.ts";
import type { BackupChange, BackupRow, BackupStore } from "../backup-store.ts";
import type { ConfigurationRow } from "../configuration-store.ts";
import type { CopyStore } from "./copy-store.ts";
import type { Output } from "../output.ts";

type CopyQueueOptions = AddTasksOptions & {
  store: Pick<BackupStore, "move">;
  copies: CopyStore;
  inventory: Pick<InventoryStore, "findStorageProvider">;
  clock: Clock;
};

type Copying = Pick<
  ConfigurationRow,
  "server_id" | "storage_provider_id" | "copy_storage_provider_id"
>;

export function createCopyQueue({ store, copies, inventory, clock, ...options }: CopyQueueOptions) {
  const { addTask } = createAddTasks(options);

  /** What messages call a storage. */
  const nameOf = async (providerId: number, tx?: Connection): Promise<string> =>
    (await inventory.findStorageProvider(providerId, tx))?.name ?? `storage ${providerId}`;

  /** Adds a copy and its task. @returns the copy, which waits */
  async function add(
    tx: Connection,
    configuration: Pick<ConfigurationRow, "server_id">,
    run: BackupRow,
    providerId: number,
  ): Promise<BackupRow> {
    const copy = await copies.insert(tx, run, providerId, new Date(clock.now()));
    await addTask(tx, configuration, copy.id, "copy");
    return copy;
  }

  return {
    nameOf,
    add,

    /**
     * Has a run copied that has stored its file; until that is over, the run goes on.
     * @param configuration as it is now; null = it is gone
     * @param facts of the stored file
     * @returns the run; null where it is not to be copied, or somebody else moved it first
     */
    async hold(
      tx: Connection,
      configuration: Copying | null,
      row: BackupRow,
      facts: BackupChange,
      output: Output,
    ): Promise<BackupRow | null> {
      const providerId = configuration === null ? null : copyTarget(row, configuration);
      if (configuration === null || providerId === null || row.trigger === "safety") return null;
      const here = await nameOf(row.storage_provider_id, tx);
      output.say(`Stored in ${here}. Copying to ${await nameOf(providerId, tx)}.`);
      const held = await store.move(tx, row, "running", { ...facts, output: output.text() });
      if (held !== null) await add(tx, configuration, held, providerId);
      return held;
    },

    /** Has copied again what is missing of the newest good runs. @param all locked in the transaction */
    async addMissing(tx: Connection, all: readonly ConfigurationRow[]): Promise<void> {
      const copied = all.filter((one) => one.copy_storage_provider_id !== null);
      if (copied.length === 0) return;
      const byId = new Map(copied.map((one) => [one.id, one]));
      for (const { run, providerId } of await copies.runsMissing(tx, [...byId.keys()])) {
        const configuration = byId.get(run.configuration_id);
        if (configuration !== undefined) await add(tx, configuration, run, providerId);
      }
    },
  };
}

export type CopyQueue = ReturnType<typeof createCopyQueue>;

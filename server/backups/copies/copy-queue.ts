// Queues copies: of a run that has just stored its file, and copies that are missing.
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

  /** Returns the name of a storage for messages. */
  const nameOf = async (providerId: number, tx?: Connection): Promise<string> =>
    (await inventory.findStorageProvider(providerId, tx))?.name ?? `storage ${providerId}`;

  /** Adds a copy and its task. @returns the pending copy */
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
     * Queues the copy of a run that has stored its file. The run ends with the copy.
     * @param configuration its current row; null = it no longer exists
     * @param facts of the stored file
     * @returns the run; null where it needs no copy, or its status was changed meanwhile
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

    /** Queues missing copies of the newest good runs. @param all configurations that the transaction has locked */
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

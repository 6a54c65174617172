// The inventory as a running part: read at start, again on every change, the last good state kept.
import { watch } from "node:fs";
import { access, mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Logger } from "pino";
import { InventoryError, readInventory } from "./file.ts";
import { writeSample } from "./sample.ts";
import { inventoryJsonSchema } from "./schema.ts";
import type { InventoryStore } from "./store.ts";

export type InventoryOptions = {
  file: string;
  /** Where the sample's own files go, when there is no inventory yet. */
  dataFolder: string;
  store: InventoryStore;
  log: Logger;
};

export type LiveInventory = {
  /** Why the file as it is now is not in force; null = it is. */
  problem(): string | null;
  close(): void;
};

/** An editor writes in several steps; reading waits until this much time passed without another. */
const settleMs = 150;

export async function openInventory(options: InventoryOptions): Promise<LiveInventory> {
  const { file, store, log } = options;
  let problem: string | null = null;
  let loading = Promise.resolve();

  const load = async () => {
    try {
      const inUse = await store.replace(await readInventory(file));
      if (inUse.length > 0) throw new InventoryError(file, inUse);
      if (problem !== null) log.info({ file }, "the inventory is in force again");
      problem = null;
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
      log.error({ file, problem }, "the inventory stays as it was");
    }
  };

  await mkdir(dirname(file), { recursive: true });
  if (!(await exists(file))) await writeSample(file, options.dataFolder);
  await writeFile(
    join(options.dataFolder, "inventory.schema.json"),
    JSON.stringify(inventoryJsonSchema(), null, 2),
  );
  await load();

  // The folder is watched, not the file: editors put a new file in the old one's place.
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(dirname(file), (_event, name) => {
    if (name !== null && name !== basename(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      loading = loading.then(load);
    }, settleMs);
  });
  watcher.on("error", (error) => log.error({ err: error, file }, "the inventory is not watched"));

  return {
    problem: () => problem,
    close() {
      clearTimeout(timer);
      watcher.close();
    },
  };
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

// Wires what forms need from the inventory file: changing single entries, and testing them before.
import type { Logger } from "pino";
import type { Route } from "../http/route.ts";
import type { Instance } from "../instances/life.ts";
import type { Database } from "../store/database.ts";
import { createChangeService } from "./change-service.ts";
import { createHighestIds } from "./highest-ids.ts";
import type { LiveInventory } from "./inventory.ts";
import { createWhyReadOnly } from "./read-only.ts";
import { inventoryRoutes } from "./routes.ts";
import type { SecretReader } from "./secrets.ts";
import type { InventoryStore } from "./store.ts";
import { createEntryTrials, type EntryTests } from "./try-entries.ts";

type EditingOptions = {
  db: Database;
  live: LiveInventory;
  store: InventoryStore;
  isInventoryReadOnly: boolean;
  instance: Instance | null;
  tests: EntryTests;
  secrets: SecretReader;
  stopping: AbortSignal;
  log: Logger;
};

export function inventoryEditing(options: EditingOptions): Route[] {
  const { db, live, store, isInventoryReadOnly: isWanted, instance } = options;
  const changes = createChangeService({
    live,
    store,
    ids: createHighestIds(db),
    whyReadOnly: createWhyReadOnly({ db, file: live.file, isWanted, instance }),
  });
  const trials = createEntryTrials({
    ...options,
    accountOf: live.accountOf,
    only: isWanted ? changes.show : null,
  });
  return inventoryRoutes(changes, trials);
}

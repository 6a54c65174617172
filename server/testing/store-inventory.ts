// Stores the rows of an inventory for tests that need no service; all entries have the account that runs the tests.
import { ownAccount } from "../hosts/account.ts";
import { parseInventory } from "../inventory/file.ts";
import type { EntryAccount } from "../inventory/one-account.ts";
import { createInventoryStore } from "../inventory/store.ts";
import type { Database } from "../store/database.ts";

export async function storeInventory(db: Database, text: string): Promise<void> {
  const inventory = parseInventory(text, "inventory.yaml");
  const own: EntryAccount = { account: ownAccount(), problem: null, ownerOf: null };
  const all = (entries: readonly { id: number }[]) =>
    new Map(entries.map(({ id }) => [id, own] as const));
  await createInventoryStore(db).replace(inventory, {
    accounts: { sites: all(inventory.sites), databases: all(inventory.databases) },
  });
}

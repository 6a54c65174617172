// Tests several instances that store one inventory, of which only one can determine the accounts of a server.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { decideAccounts, type RemoteAccounts } from "./accounts.ts";
import type { AccountSource } from "./one-account.ts";
import { parseInventory } from "./file.ts";
import { createInventoryStore, type InventoryStore } from "./store.ts";

const shop = { uid: 1001, gid: 1001, name: "shop", home: "/home/shop" };
const machine: AccountSource = {
  own: { ...shop, uid: 0, gid: 0, name: "root" },
  reserved: [],
  find: async () => shop,
  findOwner: async () => ({ uid: shop.uid, gid: shop.gid }),
  findReplacer: async () => null,
};
const here: RemoteAccounts = async () => null;
const notOurs: RemoteAccounts = async () => "no instance of the service looks after it yet.";

const inventory = (more = "root: /srv/shop") =>
  parseInventory(
    `servers: [{ id: 1, name: here, connection: local }]
sites: [{ id: 1, server: 1, name: shop, ${more} }]`,
    "inventory.yaml",
  );

let database: TestDatabase;
let store: InventoryStore;
beforeAll(async () => {
  database = await createTestDatabase();
  store = createInventoryStore(database.db);
});
afterAll(() => database.close());

const accountOf = async () => (await store.listAccounts()).sites.get(1)?.account ?? null;

test("an account that one instance determined stays when another one stores older data", async () => {
  // Both read the accounts at once, and neither sees the other's decision.
  const before = await store.listAccounts();
  const elsewhere = await decideAccounts(inventory(), before, machine, notOurs);
  const decided = await decideAccounts(inventory(), before, machine, here);
  await store.replace(inventory(), decided);
  await store.replace(inventory(), elsewhere);
  expect(await accountOf()).toEqual(shop);

  // Also when both store at once.
  await Promise.all([store.replace(inventory(), elsewhere), store.replace(inventory(), decided)]);
  expect(await accountOf()).toEqual(shop);
});

test("an entry with another folder than that of the stored account has none until it is determined", async () => {
  const moved = inventory("root: /srv/moved");
  const elsewhere = await decideAccounts(moved, await store.listAccounts(), machine, notOurs);
  await store.replace(moved, elsewhere);
  expect(await accountOf()).toBeNull();
});

import { expect, test } from "vitest";
import { createLocalHost } from "../hosts/local.ts";
import type { InventoryStore } from "../inventory/store.ts";
import { createResolver } from "./resolver.ts";

test("a storage that was removed from the inventory does not count as unencrypted", async () => {
  const resolver = createResolver({
    // Only these members are used. The entry was removed after the run had opened its storage.
    inventory: {
      findStorageProvider: async () => null,
    } as Partial<InventoryStore> as InventoryStore,
    store: { newestPaths: async () => [] },
    host: createLocalHost({ PATH: "", HOME: "/" }),
    servers: {
      open: () => Promise.reject(new Error("No server is needed.")),
      login: () => expect.unreachable(),
    },
    secrets: { read: () => Promise.reject(new Error("No secret is needed.")), fileOf: () => null },
    scratch: { own: "/", folderOf: async () => "/", clear: async () => undefined },
    installation: "i1",
  });
  await expect(resolver.encryption(3)).rejects.toThrow(
    "Storage provider 3 is no longer in the inventory.",
  );
});

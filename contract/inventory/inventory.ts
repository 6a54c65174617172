// What the service says of its inventory: the entries of the file, whether it can be written, what a change made of it, and
// what a test found.
import * as z from "zod/mini";
import { id } from "../values.ts";
import type { FileEntries } from "./entries.ts";

/** The dashboard trusts the service with its entries: their schemas would make its first file larger. */
const entryOf = <Kind extends keyof FileEntries>() => z.custom<FileEntries[Kind]>();

/** What is said beside the entries. */
export const inventoryFacts = {
  /** Names the file's content; who changes it sends the one that they saw. Null where this instance reads no file. */
  version: z.nullable(z.string()),
  /** Absolute path. */
  file: z.nullable(z.string()),
  /** Why forms cannot write the file; null = they can. */
  read_only_reason: z.nullable(z.string()),
  /** Why the file as it is now is not in force, with lines; null = it is. */
  problem: z.nullable(z.string()),
};

const entries = {
  servers: z.array(entryOf<"servers">()),
  sites: z.array(entryOf<"sites">()),
  databases: z.array(entryOf<"databases">()),
  storage_providers: z.array(entryOf<"storage_providers">()),
  notification_channels: z.array(entryOf<"notification_channels">()),
};

export const inventory = z.object({ ...inventoryFacts, ...entries });
export type InventoryFile = z.infer<typeof inventory>;

/** After a change: the entry's id, and the inventory with it. */
export const changedInventory = z.object({ id, ...inventoryFacts, ...entries });

export const inventoryTest = z
  .object({
    /** Whether everything that was tried works. */
    ok: z.boolean(),
    /** What was found, or what is wrong and what to do. */
    message: z.string(),
    /** More of what was found, a line each. */
    details: z.array(z.string()),
    /** The keys that a server offers while none is pinned, to be compared with its own. */
    host_keys: z.array(z.object({ type: z.string(), fingerprint: z.string() })),
  })
  .register(z.globalRegistry, { id: "InventoryTest" });
export type InventoryTest = z.infer<typeof inventoryTest>;

/** Seconds that a test takes at the most. */
export const testSeconds = 10;

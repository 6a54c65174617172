// Responses about the inventory: the entries of the file, whether it can be written, the result of a change, and the
// result of a test.
import * as z from "zod/mini";
import { id } from "../values.ts";
import type { FileEntries } from "./entries.ts";

/** The dashboard does not validate the entries: their schemas would enlarge its first bundle. */
const entryOf = <Kind extends keyof FileEntries>() => z.custom<FileEntries[Kind]>();

/** Fields of the response apart from the entries. */
export const inventoryFacts = {
  /**
   * Identifies the content of the file. A change must send the version that it is based on. Null where this instance
   * reads no file.
   */
  version: z.nullable(z.string()),
  /** Absolute path. */
  file: z.nullable(z.string()),
  /** Why forms cannot write the file; null = they can. */
  read_only_reason: z.nullable(z.string()),
  /** Why the present file is not in force, with line numbers; null = it is. */
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

/** Response to a change: the id of the entry, and the inventory. */
export const changedInventory = z.object({ id, ...inventoryFacts, ...entries });

export const inventoryTest = z
  .object({
    /** Whether everything that was tested works. */
    ok: z.boolean(),
    /** The result, or what is wrong and what to do. */
    message: z.string(),
    /** Further results, one line each. */
    details: z.array(z.string()),
    /** The keys that a server offers while none is pinned, for comparison with its own. */
    host_keys: z.array(z.object({ type: z.string(), fingerprint: z.string() })),
  })
  .register(z.globalRegistry, { id: "InventoryTest" });
export type InventoryTest = z.infer<typeof inventoryTest>;

/** Maximum duration of a test, in seconds. */
export const testSeconds = 10;

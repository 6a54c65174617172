// Why a change of the inventory was not carried out, and what it takes. Its own file, because the dashboard's first one does
// without it.
import * as z from "zod/mini";

const inventoryConflictCodes = [
  /** The file is not the one that the request was made from. */
  "inventory_changed",
  /** The file cannot be written here; `yaml` has the lines for it. */
  "inventory_read_only",
  /** Something else uses the entry. */
  "inventory_in_use",
] as const;

/** The body of a 409. */
export const inventoryConflict = z
  .object({
    message: z.string(),
    code: z.optional(z.enum(inventoryConflictCodes)),
    /** A unified diff: what happened to the file meanwhile, or what would be changed in a file that cannot be written. */
    diff: z.optional(z.nullable(z.string())),
    /** The entry as it belongs into the file. */
    yaml: z.optional(z.string()),
  })
  .register(z.globalRegistry, { id: "InventoryConflict" });
export type InventoryConflict = z.infer<typeof inventoryConflict>;

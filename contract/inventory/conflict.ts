// Why a change of the inventory was refused. A separate file, because the dashboard's first bundle does without it.
import * as z from "zod/mini";

const inventoryConflictCodes = [
  /** The file has changed since the version that the request is based on. */
  "inventory_changed",
  /** The file cannot be written here; `yaml` has the lines to add by hand. */
  "inventory_read_only",
  /** Something else uses the entry. */
  "inventory_in_use",
] as const;

/** The body of a 409. */
export const inventoryConflict = z
  .object({
    message: z.string(),
    code: z.optional(z.enum(inventoryConflictCodes)),
    /** A unified diff: the changes of the file meanwhile or, for a file that cannot be written, the changes to make. */
    diff: z.optional(z.nullable(z.string())),
    /** The entry as it must be written in the file. */
    yaml: z.optional(z.string()),
  })
  .register(z.globalRegistry, { id: "InventoryConflict" });
export type InventoryConflict = z.infer<typeof inventoryConflict>;

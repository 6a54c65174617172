// Finds the references to secrets in an inventory.
import { secretFields } from "../../contract/inventory/fields.ts";
import type { Inventory } from "../inventory/schema.ts";

function* referencesIn(value: unknown, field: string): Generator<string> {
  if (typeof value === "string") {
    // Elsewhere it is a name that a user chose.
    if (secretFields.includes(field) && /^(?:env|file):/.test(value)) yield value;
  } else if (typeof value === "object" && value !== null)
    for (const [name, inner] of Object.entries(value))
      yield* referencesIn(inner, Array.isArray(value) ? field : name);
}

/** Returns each `file:PATH` and `env:NAME` once, sorted. */
export const secretReferences = (
  inventory: Inventory,
): { files: string[]; variables: string[] } => {
  const all = [...new Set(referencesIn(inventory, ""))].sort();
  return {
    files: all.filter((reference) => reference.startsWith("file:")),
    variables: all
      .filter((reference) => reference.startsWith("env:"))
      .map((reference) => reference.slice("env:".length)),
  };
};

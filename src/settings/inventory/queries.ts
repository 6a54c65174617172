// Queries of the inventory pages: an extra, for tokens with all permissions only.
import { addOperations } from "../../api/client.ts";
import { inventoryOperations } from "../../../contract/inventory/operations.ts";
import type { InventoryFile } from "../../../contract/inventory/inventory.ts";
import { hasStatus } from "../../api/api-error.ts";
import { type DataQuery, extraQuery } from "../../api/query.ts";

addOperations(inventoryOperations);

/** Null where the service has no inventory, or the current token may not see it. */
export function inventoryQuery(): DataQuery<InventoryFile | null> {
  const { queryKey, queryFn } = extraQuery("showInventory", {});
  return {
    queryKey,
    queryFn: () =>
      queryFn().catch((error: unknown) => {
        if (hasStatus(error, 403)) return null;
        throw error;
      }),
  };
}

import type { LoaderFunctionArgs } from "react-router";
import { ApiError } from "../../api/api-error.ts";
import type { InventoryFile } from "../../../contract/inventory/inventory.ts";
import { idOf, load, loadIfThere } from "../../app/routing/loading.ts";
import { currentTokenQuery } from "../queries.ts";
import { canChange } from "../token-facts.ts";
import { kindOfSlug } from "./kinds.ts";
import { inventoryQuery } from "./queries.ts";

const missing = () => new ApiError(404, "Not found.");

/** @throws ApiError 403 where the current token may not see the inventory, 404 for a service without one */
async function loadInventory(request: Request): Promise<InventoryFile> {
  const inventory = await load(request, inventoryQuery());
  if (inventory !== null) return inventory;
  const token = await loadIfThere(request, currentTokenQuery());
  const isAllowed = token === null || (canChange(token) && token.server_ids === null);
  throw isAllowed ? missing() : new ApiError(403, "This token can't see the inventory.");
}

export async function inventoryLoader({ request }: LoaderFunctionArgs) {
  await loadInventory(request);
  return null;
}

/** The storage is read after the page is shown, because that is slow. */
export async function adoptLoader({ request, params }: LoaderFunctionArgs) {
  const inventory = await loadInventory(request);
  const id = idOf(params);
  const provider = inventory.storage_providers.find((one) => one.id === id);
  if (provider === undefined) throw missing();
  return { id, name: provider.name };
}

/** For a new entry, the id is null. */
export async function entryLoader({ request, params }: LoaderFunctionArgs) {
  const kind = kindOfSlug(params["kind"]);
  if (kind === null) throw missing();
  const inventory = await loadInventory(request);
  if (params["id"] === undefined) return { kind, id: null };
  const id = idOf(params);
  if (!inventory[kind].some((entry) => entry.id === id)) throw missing();
  return { kind, id };
}

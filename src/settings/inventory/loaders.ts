import type { LoaderFunctionArgs } from "react-router";
import { ApiError } from "../../api/api-error.ts";
import type { InventoryFile } from "../../../contract/inventory/inventory.ts";
import { idOf, load, loadIfThere } from "../../app/loading.ts";
import { currentTokenQuery } from "../queries.ts";
import { canChange } from "../token-facts.ts";
import { kindOfSlug } from "./kinds.ts";
import { inventoryQuery } from "./queries.ts";

const missing = () => new ApiError(404, "Not found.");

/** @throws ApiError where there is none to be seen: 403 if that is for the token in use, 404 of a service that has none */
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

/** What the storage holds is read once the page is there: that takes its time. */
export async function adoptLoader({ request, params }: LoaderFunctionArgs) {
  const inventory = await loadInventory(request);
  const id = idOf(params);
  const provider = inventory.storage_providers.find((one) => one.id === id);
  if (provider === undefined) throw missing();
  return { id, name: provider.name };
}

/** Of a new entry the id is null. */
export async function entryLoader({ request, params }: LoaderFunctionArgs) {
  const kind = kindOfSlug(params["kind"]);
  if (kind === null) throw missing();
  const inventory = await loadInventory(request);
  if (params["id"] === undefined) return { kind, id: null };
  const id = idOf(params);
  if (!inventory[kind].some((entry) => entry.id === id)) throw missing();
  return { kind, id };
}

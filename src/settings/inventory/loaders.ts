import type { LoaderFunctionArgs } from "react-router";
import { ApiError } from "../../api/api-error.ts";
import { idOf, load } from "../../app/loading.ts";
import { kindOfSlug } from "./kinds.ts";
import { inventoryQuery } from "./queries.ts";

const missing = () => new ApiError(404, "Not found.");

export async function inventoryLoader({ request }: LoaderFunctionArgs) {
  if ((await load(request, inventoryQuery())) === null) throw missing();
  return null;
}

/** What the storage holds is read once the page is there: that takes its time. */
export async function adoptLoader({ request, params }: LoaderFunctionArgs) {
  const inventory = await load(request, inventoryQuery());
  const id = idOf(params);
  const provider = inventory?.storage_providers.find((one) => one.id === id);
  if (provider === undefined) throw missing();
  return { id, name: provider.name };
}

/** Of a new entry the id is null. */
export async function entryLoader({ request, params }: LoaderFunctionArgs) {
  const kind = kindOfSlug(params["kind"]);
  const inventory = await load(request, inventoryQuery());
  if (kind === null || inventory === null) throw missing();
  if (params["id"] === undefined) return { kind, id: null };
  const id = idOf(params);
  if (!inventory[kind].some((entry) => entry.id === id)) throw missing();
  return { kind, id };
}

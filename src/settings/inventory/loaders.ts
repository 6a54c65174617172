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

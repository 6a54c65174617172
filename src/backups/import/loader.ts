import type { LoaderFunctionArgs } from "react-router";
import { everyServerQuery, everySiteQuery } from "../../app/inventory.ts";
import { load, loadIfThere } from "../../app/routing/loading.ts";
import { everyDatabaseQuery, storageProvidersQuery } from "../queries.ts";

export async function importLoader({ request }: LoaderFunctionArgs) {
  const { searchParams } = new URL(request.url);
  const idIn = (name: string) => Number(searchParams.get(name)) || null;
  const [servers] = await Promise.all([
    load(request, everyServerQuery()),
    loadIfThere(request, storageProvidersQuery()),
  ]);
  const serverId = idIn("server") ?? servers?.data[0]?.id ?? null;
  if (serverId !== null)
    await Promise.all([
      loadIfThere(request, everySiteQuery(serverId)),
      loadIfThere(request, everyDatabaseQuery(serverId)),
    ]);
  return { serverId, storageId: idIn("storage"), target: searchParams.get("of") };
}

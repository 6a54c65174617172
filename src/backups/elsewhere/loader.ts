import type { LoaderFunctionArgs } from "react-router";
import { everyServerQuery, everySiteQuery } from "../../app/inventory.ts";
import { idOf, load, loadIfThere, pageOf } from "../../app/routing/loading.ts";
import { readText } from "../../paths.ts";
import { backupQuery, configurationQuery, everyDatabaseQuery } from "../queries.ts";
import { backupContentsQuery } from "./queries.ts";

export async function restoreElsewhereLoader({ params, request }: LoaderFunctionArgs) {
  const id = idOf(params);
  const [{ configuration_id: configurationId = null }] = await Promise.all([
    load(request, backupQuery(id)),
    load(request, backupContentsQuery(id)),
    loadIfThere(request, everyServerQuery()),
  ]);
  const configuration =
    configurationId === null
      ? null
      : await loadIfThere(request, configurationQuery(configurationId));
  const serverId = configuration?.server_id ?? null;
  if (serverId !== null)
    await Promise.all([
      loadIfThere(request, everySiteQuery(serverId)),
      loadIfThere(request, everyDatabaseQuery(serverId)),
    ]);
  return { id, configurationId, serverId };
}

export async function contentsLoader({ params, request }: LoaderFunctionArgs) {
  const id = idOf(params);
  const [{ configuration_id: configurationId = null }] = await Promise.all([
    load(request, backupQuery(id)),
    load(request, backupContentsQuery(id)),
  ]);
  const configuration =
    configurationId === null
      ? null
      : await loadIfThere(request, configurationQuery(configurationId));
  const { searchParams } = new URL(request.url);
  const view = {
    folder: readText(searchParams.get("folder")),
    search: readText(searchParams.get("q")),
    page: pageOf(request),
  };
  return { id, configurationId, serverId: configuration?.server_id ?? null, view };
}

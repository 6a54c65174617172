// The loaders of the backup pages. The navigation marks the current server by `serverId`.
import type { LoaderFunctionArgs } from "react-router";
import { cachedParentOf } from "../api/parent-cache.ts";
import { everySiteQuery, serverQuery } from "../app/inventory.ts";
import { idOf, load, loadFresh, loadIfThere, loadPlace, viewOf } from "../app/routing/loading.ts";
import {
  backupQuery,
  backupsQuery,
  configurationQuery,
  configurationWith,
  configurationsQuery,
  countsQuery,
  everyDatabaseQuery,
  scheduleQuery,
  storageProvidersQuery,
} from "./queries.ts";

export async function backupsLoader({ params, request }: LoaderFunctionArgs) {
  const serverId = idOf(params);
  const view = viewOf(request);
  await Promise.all([
    load(request, configurationsQuery(serverId, view)),
    loadIfThere(request, serverQuery(serverId)),
  ]);
  return { serverId, view };
}

/** Loads the options of a form; each list may be missing, and the server may be unknown. */
const loadChoices = (request: Request, serverId: number | null) =>
  Promise.all([
    loadIfThere(request, storageProvidersQuery()),
    ...(serverId === null
      ? []
      : [
          loadIfThere(request, serverQuery(serverId)),
          loadIfThere(request, everySiteQuery(serverId)),
          loadIfThere(request, everyDatabaseQuery(serverId)),
        ]),
  ]);

export async function newConfigurationLoader({ params, request }: LoaderFunctionArgs) {
  const serverId = idOf(params);
  await Promise.all([loadChoices(request, serverId), loadPlace(request, serverQuery(serverId))]);
  return { serverId };
}

export async function editConfigurationLoader({ params, request }: LoaderFunctionArgs) {
  const id = idOf(params);
  const { server_id } = await loadFresh(request, configurationQuery(id));
  const serverId = server_id ?? cachedParentOf("listBackupConfigurations", id);
  await loadChoices(request, serverId);
  return { id, serverId };
}

export async function configurationLoader({ params, request }: LoaderFunctionArgs) {
  const id = idOf(params);
  const view = viewOf(request);
  const [configuration] = await Promise.all([
    load(request, configurationQuery(id)),
    loadIfThere(request, backupsQuery(id, view)),
    loadIfThere(request, storageProvidersQuery()),
  ]);
  const serverId = configuration.server_id ?? cachedParentOf("listBackupConfigurations", id);
  await Promise.all([
    loadIfThere(request, scheduleQuery(configuration)),
    // Like the page, requests counts only from a service with Quarterdeck's extras; see `hasExtras`.
    ...(configuration.drill === undefined
      ? []
      : [loadIfThere(request, countsQuery(configuration))]),
    ...(serverId === null ? [] : [loadIfThere(request, serverQuery(serverId))]),
  ]);
  return { id, view, serverId };
}

export async function backupLoader({ params, request }: LoaderFunctionArgs) {
  const id = idOf(params);
  const { configuration_id } = await load(request, backupQuery(id));
  const configurationId = configuration_id ?? configurationWith(id);
  const configuration =
    configurationId === null
      ? null
      : await loadIfThere(request, configurationQuery(configurationId));
  const serverId =
    configuration?.server_id ??
    (configurationId === null ? null : cachedParentOf("listBackupConfigurations", configurationId));
  return { id, configurationId, serverId };
}

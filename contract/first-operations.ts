// The operations in the dashboard's first bundle: those of backups, and those that the frame of every page uses. Other
// operations are loaded with their pages.
import { backupExtras, backupOperations } from "./backups/operations.ts";
import { installation } from "./installation.ts";
import { operation } from "./operation.ts";
import { overview } from "./overview.ts";
import { filteredListOf } from "./paging.ts";
import { database, server, serverStatus, site, storageProvider } from "./servers.ts";
import { newToken, token } from "./tokens.ts";

const servers = {
  showOverview: operation({
    tag: "activity",
    method: "GET",
    path: "/api/overview",
    responses: { 200: overview },
  }),
  listServers: operation({
    tag: "servers",
    path: "/api/servers",
    ...filteredListOf(server),
  }),
  showServer: operation({
    tag: "servers",
    method: "GET",
    path: "/api/server/{id}",
    responses: { 200: server },
  }),
  showServerStatus: operation({
    tag: "servers",
    method: "GET",
    path: "/api/server/{id}/status",
    responses: { 200: serverStatus },
  }),
  listSites: operation({
    tag: "servers",
    path: "/api/server/{id}/sites",
    ...filteredListOf(site),
  }),
  showSite: operation({
    tag: "servers",
    method: "GET",
    path: "/api/site/{id}",
    responses: { 200: site },
  }),
  listDatabases: operation({
    tag: "servers",
    path: "/api/server/{id}/databases",
    ...filteredListOf(database),
  }),
  listStorageProviders: operation({
    tag: "servers",
    path: "/api/storage-providers",
    ...filteredListOf(storageProvider),
  }),
  showInstallation: operation({
    tag: "servers",
    method: "GET",
    path: "/api/installation",
    responses: { 200: installation },
  }),
};

const tokens = {
  showCurrentToken: operation({
    tag: "tokens",
    method: "GET",
    path: "/api/token",
    responses: { 200: token },
  }),
  signIn: operation({
    tag: "tokens",
    method: "POST",
    path: "/api/sign-in",
    responses: { 201: newToken },
    isPublic: true,
  }),
};

export const firstOperations = {
  ...backupOperations,
  ...backupExtras,
  ...servers,
  ...tokens,
};

// Every operation of the interface and every extra, one row each: the table of each room, and here what belongs to
// none. Start reading here. The client is made from these rows; with their bodies, in `contract/served-operations.ts`,
// so are the routes and the interface description.
import * as z from "zod/mini";
import { activity } from "./activity.ts";
import { deployment } from "./deployments.ts";
import { installationCheck } from "./doctor.ts";
import type { Discovery, FoundDatabases } from "./discovery.ts";
import { installation } from "./installation.ts";
import { operation } from "./operation.ts";
import { overview } from "./overview.ts";
import { filteredListOf } from "./paging.ts";
import { searchResults } from "./search.ts";
import { database, server, serverStatus, site, storageProvider } from "./servers.ts";
import { newToken, token } from "./tokens.ts";
import { inventoryOperations } from "./inventory/operations.ts";
import { backupExtras, backupOperations } from "./backups/operations.ts";
import { workerExtras, workerOperations } from "./workers/operations.ts";
import { worker } from "./workers/worker.ts";
import { webhookExtras, webhookOperations } from "./webhooks/operations.ts";
import { notificationExtras, notificationOperations } from "./notifications/operations.ts";

const deployments = {
  reportDeployment: operation({
    tag: "deployments",
    method: "POST",
    path: "/api/site/{id}/deployment",
    responses: { 202: deployment },
  }),
};

const acrossServers = {
  showOverview: operation({
    tag: "activity",
    method: "GET",
    path: "/api/overview",
    responses: { 200: overview },
  }),
  listActivity: operation({
    tag: "activity",
    method: "GET",
    path: "/api/activity",
    responses: { 200: activity },
  }),
  search: operation({
    tag: "servers",
    method: "GET",
    path: "/api/search",
    responses: { 200: searchResults },
  }),
};

const servers = {
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
  // Their schemas come with the page that shows what was found, and with the service.
  discoverServer: operation({
    tag: "servers",
    method: "GET",
    path: "/api/server/{id}/discovery",
    responses: { 200: z.custom<Discovery>() },
    // Paths and commands of other people's sites.
    ability: "*",
    reach: "every server",
  }),
  findDatabases: operation({
    tag: "servers",
    method: "POST",
    path: "/api/server/{id}/discovery/databases",
    responses: { 200: z.custom<FoundDatabases>() },
    reach: "every server",
  }),
  takeOverProgram: operation({
    tag: "servers",
    method: "POST",
    path: "/api/server/{id}/discovery/take-over",
    responses: { 202: worker },
    reach: "every server",
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
  checkInstallation: operation({
    tag: "servers",
    method: "POST",
    path: "/api/installation/check",
    responses: { 200: installationCheck },
    reach: "every server",
  }),
};

const tokens = {
  listTokens: operation({
    tag: "tokens",
    path: "/api/tokens",
    ...filteredListOf(token),
    ability: "*",
    reach: "every server",
  }),
  createToken: operation({
    tag: "tokens",
    method: "POST",
    path: "/api/tokens",
    responses: { 201: newToken },
    reach: "every server",
  }),
  deleteToken: operation({
    tag: "tokens",
    method: "DELETE",
    path: "/api/token/{id}",
    responses: { 204: null },
    reach: "every server",
  }),
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

/** The interface's 22 operations. Every service has them. */
export const interfaceOperations = {
  ...backupOperations,
  ...workerOperations,
  ...webhookOperations,
  ...notificationOperations,
};

/** All rows. What is not in `interfaceOperations` is an extra, and a client must do without it. */
export const operations = {
  ...interfaceOperations,
  ...backupExtras,
  ...workerExtras,
  ...webhookExtras,
  ...notificationExtras,
  ...deployments,
  ...acrossServers,
  ...servers,
  ...inventoryOperations,
  ...tokens,
};
export type OperationName = keyof typeof operations;

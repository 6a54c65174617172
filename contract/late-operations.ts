// Operations that are rarely needed when a visit begins. The dashboard's first bundle excludes them and their schemas;
// pages that need them load them.
import * as z from "zod/mini";
import { activity } from "./activity.ts";
import { deployment } from "./deployments.ts";
import { lateBackupOperations } from "./backups/late-operations.ts";
import type { Discovery, FoundDatabases } from "./discovery.ts";
import { installationCheck } from "./doctor.ts";
import { operation } from "./operation.ts";
import { filteredListOf } from "./paging.ts";
import { searchResults } from "./search.ts";
import { newToken, token } from "./tokens.ts";
import { worker } from "./workers/worker.ts";

const servers = {
  reportDeployment: operation({
    tag: "deployments",
    method: "POST",
    path: "/api/site/{id}/deployment",
    responses: { 202: deployment },
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
  // The schema is loaded by the page that shows the results, and by the service.
  discoverServer: operation({
    tag: "servers",
    method: "GET",
    path: "/api/server/{id}/discovery",
    responses: { 200: z.custom<Discovery>() },
    // The response has paths and commands of all sites on the server.
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
};

export const lateOperations = { ...servers, ...tokens, ...lateBackupOperations };

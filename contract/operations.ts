// Every operation of the interface and every extra, one row each. Start reading here.
// The client, the routes and the interface description are all made from this table.
import * as z from "zod/mini";
import { activity, activityQuery } from "./activity.ts";
import {
  backup,
  backupConfiguration,
  backupSchedule,
  createBackupConfigurationBody,
  downloadLink,
  updateBackupConfigurationBody,
  restoreBackupBody,
} from "./backups/backup.ts";
import { deployment, reportDeploymentBody } from "./deployments.ts";
import {
  channelMessage,
  notification,
  notificationChannel,
  updateNotificationsBody,
} from "./notifications/notification.ts";
import { installation } from "./installation.ts";
import { file, operation } from "./operation.ts";
import { overview } from "./overview.ts";
import { listOf, pageOf } from "./paging.ts";
import { database, server, site, storageProvider } from "./servers.ts";
import { createTokenBody, newToken, signInBody, token } from "./tokens.ts";
import { delivery, deliverySummary } from "./webhooks/delivery.ts";
import { createWebhookBody, redelivered, webhook, webhookWithSecret } from "./webhooks/webhook.ts";
import { createWorkerBody, worker, workerLog, workerLogQuery } from "./workers/worker.ts";

const backups = {
  listBackupConfigurations: operation({
    tag: "backups",
    path: "/api/server/{id}/backups",
    ...listOf(backupConfiguration),
  }),
  showBackupConfiguration: operation({
    tag: "backups",
    method: "GET",
    path: "/api/backup-configuration/{id}",
    answers: { 200: backupConfiguration },
  }),
  createBackupConfiguration: operation({
    tag: "backups",
    method: "POST",
    path: "/api/server/{id}/backup-configuration",
    body: createBackupConfigurationBody,
    answers: { 201: backupConfiguration },
  }),
  updateBackupConfiguration: operation({
    tag: "backups",
    method: "PUT",
    path: "/api/backup-configuration/{id}",
    body: updateBackupConfigurationBody,
    answers: { 200: backupConfiguration },
  }),
  deleteBackupConfiguration: operation({
    tag: "backups",
    method: "DELETE",
    path: "/api/backup-configuration/{id}",
    query: z.object({ files: z.optional(z.enum(["remove"])) }),
    answers: { 204: null },
  }),
  showBackup: operation({
    tag: "backups",
    method: "GET",
    path: "/api/backup/{id}",
    answers: { 200: backup },
  }),
  runBackup: operation({
    tag: "backups",
    method: "POST",
    path: "/api/backup/{backupConfigurationId}",
    answers: { 202: backup },
    isBodyOpen: true,
  }),
  restoreBackup: operation({
    tag: "backups",
    method: "PUT",
    path: "/api/backup/{id}",
    body: restoreBackupBody,
    answers: { 202: backup },
    isBodyOpen: true,
  }),
  deleteBackup: operation({
    tag: "backups",
    method: "DELETE",
    path: "/api/backup/{id}",
    answers: { 204: null },
  }),
};

const workers = {
  listWorkers: operation({
    tag: "workers",
    path: "/api/site/{id}/workers",
    ...listOf(worker),
  }),
  showWorker: operation({
    tag: "workers",
    method: "GET",
    path: "/api/worker/{id}",
    answers: { 200: worker },
  }),
  createWorker: operation({
    tag: "workers",
    method: "POST",
    path: "/api/site/{id}/worker",
    body: createWorkerBody,
    answers: { 201: worker },
  }),
  stopWorker: operation({
    tag: "workers",
    method: "DELETE",
    path: "/api/worker/{id}/stop",
    answers: { 204: null },
  }),
  startWorker: operation({
    tag: "workers",
    method: "POST",
    path: "/api/worker/{id}/start",
    answers: { 204: null },
  }),
  restartWorker: operation({
    tag: "workers",
    method: "PUT",
    path: "/api/worker/{id}/restart",
    answers: { 204: null },
  }),
  deleteWorker: operation({
    tag: "workers",
    method: "DELETE",
    path: "/api/worker/{id}",
    answers: { 204: null },
  }),
};

const webhooks = {
  listWebhooks: operation({
    tag: "webhooks",
    path: "/api/site/{id}/webhooks",
    ...listOf(webhook),
  }),
  showWebhook: operation({
    tag: "webhooks",
    method: "GET",
    path: "/api/site-webhook/{id}",
    answers: { 200: webhook },
  }),
  createWebhook: operation({
    tag: "webhooks",
    method: "POST",
    path: "/api/site/{id}/webhook",
    body: createWebhookBody,
    answers: { 201: webhookWithSecret },
  }),
  deleteWebhook: operation({
    tag: "webhooks",
    method: "DELETE",
    path: "/api/site-webhook/{id}",
    answers: { 204: null },
  }),
};

const notifications = {
  listNotifications: operation({
    tag: "notifications",
    path: "/api/site/{id}/notifications",
    ...listOf(notification),
  }),
  updateNotifications: operation({
    tag: "notifications",
    method: "PUT",
    path: "/api/site/{id}/notifications",
    body: updateNotificationsBody,
    answers: { 200: pageOf(notification) },
    isBodyOpen: true,
  }),
};

const workerLogs = {
  showWorkerLog: operation({
    tag: "workers",
    method: "GET",
    path: "/api/worker/{id}/log",
    query: workerLogQuery,
    answers: { 200: workerLog },
  }),
};

const backupExtras = {
  showBackupSchedule: operation({
    tag: "backups",
    method: "GET",
    path: "/api/backup-configuration/{id}/schedule",
    answers: { 200: backupSchedule },
  }),
  listBackups: operation({
    tag: "backups",
    path: "/api/backup-configuration/{id}/backups",
    ...listOf(backup),
  }),
  downloadBackup: operation({
    tag: "backups",
    method: "GET",
    path: "/api/backup/{id}/file",
    answers: { 200: file },
    // It holds everything that the site or database holds.
    ability: "*",
    takesCode: true,
  }),
  createDownloadLink: operation({
    tag: "backups",
    method: "POST",
    path: "/api/backup/{id}/download-link",
    answers: { 201: downloadLink },
  }),
  cancelBackup: operation({
    tag: "backups",
    method: "POST",
    path: "/api/backup/{id}/cancel",
    answers: { 202: backup },
  }),
  drillBackup: operation({
    tag: "backups",
    method: "POST",
    path: "/api/backup/{id}/drill",
    answers: { 202: backup },
  }),
};

const webhookExtras = {
  listDeliveries: operation({
    tag: "webhooks",
    path: "/api/site-webhook/{id}/deliveries",
    ...listOf(deliverySummary),
  }),
  showDelivery: operation({
    tag: "webhooks",
    method: "GET",
    path: "/api/webhook-delivery/{id}",
    answers: { 200: delivery },
  }),
  redeliver: operation({
    tag: "webhooks",
    method: "POST",
    path: "/api/webhook-delivery/{id}/redeliver",
    answers: { 202: deliverySummary },
  }),
  redeliverMissed: operation({
    tag: "webhooks",
    method: "POST",
    path: "/api/site-webhook/{id}/redeliver",
    answers: { 202: redelivered },
  }),
  pingWebhook: operation({
    tag: "webhooks",
    method: "POST",
    path: "/api/site-webhook/{id}/ping",
    answers: { 202: deliverySummary },
  }),
  rotateWebhookSecret: operation({
    tag: "webhooks",
    method: "POST",
    path: "/api/site-webhook/{id}/secret",
    answers: { 200: webhookWithSecret },
  }),
};

const notificationExtras = {
  listServerNotifications: operation({
    tag: "notifications",
    path: "/api/server/{id}/notifications",
    ...listOf(notification),
  }),
  updateServerNotifications: operation({
    tag: "notifications",
    method: "PUT",
    path: "/api/server/{id}/notifications",
    body: updateNotificationsBody,
    answers: { 200: pageOf(notification) },
  }),
  listNotificationChannels: operation({
    tag: "notifications",
    path: "/api/notification-channels",
    ...listOf(notificationChannel),
  }),
  testNotificationChannel: operation({
    tag: "notifications",
    method: "POST",
    path: "/api/notification-channel/{id}/test",
    answers: { 202: channelMessage },
  }),
};

const deployments = {
  reportDeployment: operation({
    tag: "deployments",
    method: "POST",
    path: "/api/site/{id}/deployment",
    body: reportDeploymentBody,
    answers: { 202: deployment },
  }),
};

const timeline = {
  showOverview: operation({
    tag: "activity",
    method: "GET",
    path: "/api/overview",
    answers: { 200: overview },
  }),
  listActivity: operation({
    tag: "activity",
    method: "GET",
    path: "/api/activity",
    query: activityQuery,
    answers: { 200: activity },
  }),
};

const servers = {
  listServers: operation({
    tag: "servers",
    path: "/api/servers",
    ...listOf(server),
  }),
  showServer: operation({
    tag: "servers",
    method: "GET",
    path: "/api/server/{id}",
    answers: { 200: server },
  }),
  listSites: operation({
    tag: "servers",
    path: "/api/server/{id}/sites",
    ...listOf(site),
  }),
  showSite: operation({
    tag: "servers",
    method: "GET",
    path: "/api/site/{id}",
    answers: { 200: site },
  }),
  listDatabases: operation({
    tag: "servers",
    path: "/api/server/{id}/databases",
    ...listOf(database),
  }),
  listStorageProviders: operation({
    tag: "servers",
    path: "/api/storage-providers",
    ...listOf(storageProvider),
  }),
  showInstallation: operation({
    tag: "servers",
    method: "GET",
    path: "/api/installation",
    answers: { 200: installation },
  }),
};

const tokens = {
  listTokens: operation({
    tag: "tokens",
    path: "/api/tokens",
    ...listOf(token),
    ability: "*",
    reach: "every server",
  }),
  createToken: operation({
    tag: "tokens",
    method: "POST",
    path: "/api/tokens",
    body: createTokenBody,
    answers: { 201: newToken },
    reach: "every server",
  }),
  deleteToken: operation({
    tag: "tokens",
    method: "DELETE",
    path: "/api/token/{id}",
    answers: { 204: null },
    reach: "every server",
  }),
  showCurrentToken: operation({
    tag: "tokens",
    method: "GET",
    path: "/api/token",
    answers: { 200: token },
  }),
  signIn: operation({
    tag: "tokens",
    method: "POST",
    path: "/api/sign-in",
    body: signInBody,
    answers: { 201: newToken },
    isPublic: true,
  }),
};

/** The interface's 22 operations. Every service has them. */
export const interfaceOperations = { ...backups, ...workers, ...webhooks, ...notifications };

/** All rows. What is not in `interfaceOperations` is an extra, and a client must do without it. */
export const operations = {
  ...interfaceOperations,
  ...backupExtras,
  ...workerLogs,
  ...webhookExtras,
  ...notificationExtras,
  ...deployments,
  ...timeline,
  ...servers,
  ...tokens,
};
export type OperationName = keyof typeof operations;

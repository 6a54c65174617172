// Every operation of the interface and every extra, one row each. Start reading here.
// The client, the routes and the interface description are all made from this table.
import * as z from "zod/mini";
import { activity, activityQuery } from "./activity.ts";
import {
  backup,
  backupConfiguration,
  backupSchedule,
  createBackupConfigurationBody,
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
import { pageOf, pageQuery } from "./paging.ts";
import { database, server, site, storageProvider } from "./servers.ts";
import { createTokenBody, newToken, signInBody, token } from "./tokens.ts";
import { delivery, deliverySummary } from "./webhooks/delivery.ts";
import { createWebhookBody, redelivered, webhook, webhookWithSecret } from "./webhooks/webhook.ts";
import { createWorkerBody, worker, workerLog, workerLogQuery } from "./workers/worker.ts";

const backups = {
  listBackupConfigurations: operation({
    tag: "backups",
    method: "GET",
    path: "/api/server/{id}/backups",
    summary: "List the backup configurations of a server",
    query: pageQuery,
    answers: { 200: pageOf(backupConfiguration) },
  }),
  showBackupConfiguration: operation({
    tag: "backups",
    method: "GET",
    path: "/api/backup-configuration/{id}",
    summary: "Show a backup configuration",
    answers: { 200: backupConfiguration },
  }),
  createBackupConfiguration: operation({
    tag: "backups",
    method: "POST",
    path: "/api/server/{id}/backup-configuration",
    summary: "Create a backup configuration",
    body: createBackupConfigurationBody,
    answers: { 201: backupConfiguration },
  }),
  updateBackupConfiguration: operation({
    tag: "backups",
    method: "PUT",
    path: "/api/backup-configuration/{id}",
    summary: "Update a backup configuration",
    body: updateBackupConfigurationBody,
    answers: { 200: backupConfiguration },
  }),
  deleteBackupConfiguration: operation({
    tag: "backups",
    method: "DELETE",
    path: "/api/backup-configuration/{id}",
    summary: "Delete a backup configuration; stored files are kept unless `files` is `remove`",
    query: z.object({ files: z.optional(z.enum(["remove"])) }),
    answers: { 204: null },
  }),
  showBackup: operation({
    tag: "backups",
    method: "GET",
    path: "/api/backup/{id}",
    summary: "Show a backup",
    answers: { 200: backup },
  }),
  runBackup: operation({
    tag: "backups",
    method: "POST",
    path: "/api/backup/{backupConfigurationId}",
    summary: "Run a backup of a configuration now",
    answers: { 202: backup },
    isBodyOpen: true,
  }),
  restoreBackup: operation({
    tag: "backups",
    method: "PUT",
    path: "/api/backup/{id}",
    summary: "Restore a backup",
    body: restoreBackupBody,
    answers: { 202: backup },
    isBodyOpen: true,
  }),
  deleteBackup: operation({
    tag: "backups",
    method: "DELETE",
    path: "/api/backup/{id}",
    summary: "Delete a backup and its file",
    answers: { 204: null },
  }),
};

const workers = {
  listWorkers: operation({
    tag: "workers",
    method: "GET",
    path: "/api/site/{id}/workers",
    summary: "List the workers of a site",
    query: pageQuery,
    answers: { 200: pageOf(worker) },
  }),
  showWorker: operation({
    tag: "workers",
    method: "GET",
    path: "/api/worker/{id}",
    summary: "Show a worker",
    answers: { 200: worker },
  }),
  createWorker: operation({
    tag: "workers",
    method: "POST",
    path: "/api/site/{id}/worker",
    summary: "Create a worker",
    body: createWorkerBody,
    answers: { 201: worker },
  }),
  stopWorker: operation({
    tag: "workers",
    method: "DELETE",
    path: "/api/worker/{id}/stop",
    summary: "Stop a worker",
    answers: { 204: null },
  }),
  startWorker: operation({
    tag: "workers",
    method: "POST",
    path: "/api/worker/{id}/start",
    summary: "Start a worker",
    answers: { 204: null },
  }),
  restartWorker: operation({
    tag: "workers",
    method: "PUT",
    path: "/api/worker/{id}/restart",
    summary: "Restart a worker",
    answers: { 204: null },
  }),
  deleteWorker: operation({
    tag: "workers",
    method: "DELETE",
    path: "/api/worker/{id}",
    summary: "Delete a worker once its processes are gone",
    answers: { 204: null },
  }),
};

const webhooks = {
  listWebhooks: operation({
    tag: "webhooks",
    method: "GET",
    path: "/api/site/{id}/webhooks",
    summary: "List the webhooks of a site",
    query: pageQuery,
    answers: { 200: pageOf(webhook) },
  }),
  showWebhook: operation({
    tag: "webhooks",
    method: "GET",
    path: "/api/site-webhook/{id}",
    summary: "Show a webhook",
    answers: { 200: webhook },
  }),
  createWebhook: operation({
    tag: "webhooks",
    method: "POST",
    path: "/api/site/{id}/webhook",
    summary: "Create a webhook; the response shows its secret once",
    body: createWebhookBody,
    answers: { 201: webhookWithSecret },
  }),
  deleteWebhook: operation({
    tag: "webhooks",
    method: "DELETE",
    path: "/api/site-webhook/{id}",
    summary: "Delete a webhook",
    answers: { 204: null },
  }),
};

const notifications = {
  listNotifications: operation({
    tag: "notifications",
    method: "GET",
    path: "/api/site/{id}/notifications",
    summary: "List the notification channels of a site",
    query: pageQuery,
    answers: { 200: pageOf(notification) },
  }),
  updateNotifications: operation({
    tag: "notifications",
    method: "PUT",
    path: "/api/site/{id}/notifications",
    summary: "Replace the notification channels of a site",
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
    summary: "Read a worker's log: its last lines, or what follows an offset",
    query: workerLogQuery,
    answers: { 200: workerLog },
  }),
};

const backupExtras = {
  showBackupSchedule: operation({
    tag: "backups",
    method: "GET",
    path: "/api/backup-configuration/{id}/schedule",
    summary: "Show the next runs of a backup configuration, and what retention will remove",
    answers: { 200: backupSchedule },
  }),
  listBackups: operation({
    tag: "backups",
    method: "GET",
    path: "/api/backup-configuration/{id}/backups",
    summary: "List the backups of a configuration",
    query: pageQuery,
    answers: { 200: pageOf(backup) },
  }),
  downloadBackup: operation({
    tag: "backups",
    method: "GET",
    path: "/api/backup/{id}/file",
    summary: "Download a backup's file; the download aborts if the file is damaged",
    answers: { 200: file },
    // It holds everything that the site or database holds.
    ability: "*",
  }),
  cancelBackup: operation({
    tag: "backups",
    method: "POST",
    path: "/api/backup/{id}/cancel",
    summary: "Cancel a backup's run, restore or restore drill",
    answers: { 202: backup },
  }),
  drillBackup: operation({
    tag: "backups",
    method: "POST",
    path: "/api/backup/{id}/drill",
    summary: "Run a restore drill: restore the backup to a scratch location, check it, delete it",
    answers: { 202: backup },
  }),
};

const webhookExtras = {
  listDeliveries: operation({
    tag: "webhooks",
    method: "GET",
    path: "/api/site-webhook/{id}/deliveries",
    summary: "List the deliveries of a webhook",
    query: pageQuery,
    answers: { 200: pageOf(deliverySummary) },
  }),
  showDelivery: operation({
    tag: "webhooks",
    method: "GET",
    path: "/api/webhook-delivery/{id}",
    summary: "Show a delivery with its attempts, requests and answers",
    answers: { 200: delivery },
  }),
  redeliver: operation({
    tag: "webhooks",
    method: "POST",
    path: "/api/webhook-delivery/{id}/redeliver",
    summary: "Redeliver a delivery with the same message id",
    answers: { 202: deliverySummary },
  }),
  redeliverMissed: operation({
    tag: "webhooks",
    method: "POST",
    path: "/api/site-webhook/{id}/redeliver",
    summary: "Send the deliveries that a webhook missed while disabled",
    answers: { 202: redelivered },
  }),
  pingWebhook: operation({
    tag: "webhooks",
    method: "POST",
    path: "/api/site-webhook/{id}/ping",
    summary: "Send a ping to a webhook",
    answers: { 202: deliverySummary },
  }),
  rotateWebhookSecret: operation({
    tag: "webhooks",
    method: "POST",
    path: "/api/site-webhook/{id}/secret",
    summary: "Rotate a webhook's secret; the previous secret also signs for 24 hours",
    answers: { 200: webhookWithSecret },
  }),
};

const notificationExtras = {
  listServerNotifications: operation({
    tag: "notifications",
    method: "GET",
    path: "/api/server/{id}/notifications",
    summary: "List the channels for events of a server that belong to no site",
    query: pageQuery,
    answers: { 200: pageOf(notification) },
  }),
  updateServerNotifications: operation({
    tag: "notifications",
    method: "PUT",
    path: "/api/server/{id}/notifications",
    summary: "Replace the channels for events of a server that belong to no site",
    body: updateNotificationsBody,
    answers: { 200: pageOf(notification) },
  }),
  listNotificationChannels: operation({
    tag: "notifications",
    method: "GET",
    path: "/api/notification-channels",
    summary: "List the account's notification channels",
    query: pageQuery,
    answers: { 200: pageOf(notificationChannel) },
  }),
  testNotificationChannel: operation({
    tag: "notifications",
    method: "POST",
    path: "/api/notification-channel/{id}/test",
    summary: "Send a test message to a notification channel",
    answers: { 202: channelMessage },
  }),
};

const deployments = {
  reportDeployment: operation({
    tag: "deployments",
    method: "POST",
    path: "/api/site/{id}/deployment",
    summary: "Report a deployment or a failed deployment of a site",
    body: reportDeploymentBody,
    answers: { 202: deployment },
  }),
};

const timeline = {
  showOverview: operation({
    tag: "activity",
    method: "GET",
    path: "/api/overview",
    summary: "Show problems over all servers",
    answers: { 200: overview },
  }),
  listActivity: operation({
    tag: "activity",
    method: "GET",
    path: "/api/activity",
    summary: "Read the timeline: changes, runs and deliveries, newest first",
    query: activityQuery,
    answers: { 200: activity },
  }),
};

const servers = {
  listServers: operation({
    tag: "servers",
    method: "GET",
    path: "/api/servers",
    summary: "List the servers",
    query: pageQuery,
    answers: { 200: pageOf(server) },
  }),
  showServer: operation({
    tag: "servers",
    method: "GET",
    path: "/api/server/{id}",
    summary: "Show a server",
    answers: { 200: server },
  }),
  listSites: operation({
    tag: "servers",
    method: "GET",
    path: "/api/server/{id}/sites",
    summary: "List the sites of a server",
    query: pageQuery,
    answers: { 200: pageOf(site) },
  }),
  showSite: operation({
    tag: "servers",
    method: "GET",
    path: "/api/site/{id}",
    summary: "Show a site",
    answers: { 200: site },
  }),
  listDatabases: operation({
    tag: "servers",
    method: "GET",
    path: "/api/server/{id}/databases",
    summary: "List the databases of a server",
    query: pageQuery,
    answers: { 200: pageOf(database) },
  }),
  listStorageProviders: operation({
    tag: "servers",
    method: "GET",
    path: "/api/storage-providers",
    summary: "List the storage providers",
    query: pageQuery,
    answers: { 200: pageOf(storageProvider) },
  }),
  showInstallation: operation({
    tag: "servers",
    method: "GET",
    path: "/api/installation",
    summary: "Show the version, its account, and whether sites run as their own accounts",
    answers: { 200: installation },
  }),
};

const tokens = {
  listTokens: operation({
    tag: "tokens",
    method: "GET",
    path: "/api/tokens",
    summary: "List the tokens; requires a token for every server",
    query: pageQuery,
    answers: { 200: pageOf(token) },
    ability: "*",
    reach: "every server",
  }),
  createToken: operation({
    tag: "tokens",
    method: "POST",
    path: "/api/tokens",
    summary: "Create a token, shown once; requires a token for every server",
    body: createTokenBody,
    answers: { 201: newToken },
    reach: "every server",
  }),
  deleteToken: operation({
    tag: "tokens",
    method: "DELETE",
    path: "/api/token/{id}",
    summary: "Revoke a token; requires a token for every server",
    answers: { 204: null },
    reach: "every server",
  }),
  showCurrentToken: operation({
    tag: "tokens",
    method: "GET",
    path: "/api/token",
    summary: "Show the current token",
    answers: { 200: token },
  }),
  signIn: operation({
    tag: "tokens",
    method: "POST",
    path: "/api/sign-in",
    summary: "Exchange the one-time code printed by the service for a token, shown once",
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

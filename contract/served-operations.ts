// The operations as the service serves them: each row of `contract/operations.ts` with the schemas of its body and query. The
// dashboard's first bundle excludes these schemas; its forms load those that they validate with.
import { adoption } from "./backups/adoption.ts";
import {
  createBackupConfigurationBody,
  browseArchiveBody,
  browseObjectsBody,
  restoreBackupBody,
  restoreIntoDatabaseBody,
  restoreIntoSiteBody,
  updateBackupConfigurationBody,
} from "./backups/bodies.ts";
import { backupCounts } from "./backups/counts.ts";
import {
  importableFiles,
  importableFilesQuery,
  importFileBody,
  uploadQuery,
} from "./backups/import.ts";
import { storageForecast } from "./backups/storage-forecast.ts";
import { errorBody } from "./errors.ts";
import { createTokenBody, reportDeploymentBody, signInBody } from "./bodies.ts";
import { discovery, findDatabasesBody, foundDatabases, takeOverBody } from "./discovery.ts";
import { servedInventoryOperations } from "./inventory/served.ts";
import { updateNotificationEventsBody, updateNotificationsBody } from "./notifications/bodies.ts";
import type { Operation } from "./operation.ts";
import { type OperationName, operations } from "./operations.ts";
import {
  activityQuery,
  deleteBackupConfigurationQuery,
  deliveriesQuery,
  searchQuery,
  storageForecastQuery,
  workerLogQuery,
} from "./queries.ts";
import { createWebhookBody, redeliverBody, updateWebhookBody } from "./webhooks/bodies.ts";
import { createWorkerBody, updateWorkerBody } from "./workers/bodies.ts";

/** A GET answers 409 only where the storage or server that it reads cannot be read now. */
const mayConflict = { conflict: errorBody } as const;

export const servedOperations = {
  ...operations,
  ...servedInventoryOperations,
  createBackupConfiguration: {
    ...operations.createBackupConfiguration,
    body: createBackupConfigurationBody,
  },
  updateBackupConfiguration: {
    ...operations.updateBackupConfiguration,
    body: updateBackupConfigurationBody,
  },
  restoreBackup: { ...operations.restoreBackup, body: restoreBackupBody },
  showBackupCounts: { ...operations.showBackupCounts, responses: { 200: backupCounts } },
  browseArchive: { ...operations.browseArchive, body: browseArchiveBody },
  browseObjects: { ...operations.browseObjects, body: browseObjectsBody },
  restoreIntoDatabase: { ...operations.restoreIntoDatabase, body: restoreIntoDatabaseBody },
  restoreIntoSite: { ...operations.restoreIntoSite, body: restoreIntoSiteBody },
  importDatabaseFile: {
    ...operations.importDatabaseFile,
    body: importFileBody,
    upload: uploadQuery,
  },
  importSiteFile: { ...operations.importSiteFile, body: importFileBody, upload: uploadQuery },
  showImportableFiles: {
    ...operations.showImportableFiles,
    query: importableFilesQuery,
    ...mayConflict,
    responses: { 200: importableFiles },
  },
  showStorageForecast: {
    ...operations.showStorageForecast,
    query: storageForecastQuery,
    responses: { 200: storageForecast },
  },
  showAdoption: { ...operations.showAdoption, ...mayConflict, responses: { 200: adoption } },
  adoptBackups: { ...operations.adoptBackups, responses: { 200: adoption } },
  createWorker: { ...operations.createWorker, body: createWorkerBody },
  updateWorker: { ...operations.updateWorker, body: updateWorkerBody },
  createWebhook: { ...operations.createWebhook, body: createWebhookBody },
  updateWebhook: { ...operations.updateWebhook, body: updateWebhookBody },
  redeliverMissed: { ...operations.redeliverMissed, body: redeliverBody },
  updateNotifications: { ...operations.updateNotifications, body: updateNotificationsBody },
  updateNotificationEvents: {
    ...operations.updateNotificationEvents,
    body: updateNotificationEventsBody,
  },
  updateServerNotifications: {
    ...operations.updateServerNotifications,
    body: updateNotificationsBody,
  },
  updateServerNotificationEvents: {
    ...operations.updateServerNotificationEvents,
    body: updateNotificationEventsBody,
  },
  discoverServer: { ...operations.discoverServer, ...mayConflict, responses: { 200: discovery } },
  findDatabases: {
    ...operations.findDatabases,
    body: findDatabasesBody,
    responses: { 200: foundDatabases },
  },
  takeOverProgram: { ...operations.takeOverProgram, body: takeOverBody },
  reportDeployment: { ...operations.reportDeployment, body: reportDeploymentBody },
  createToken: { ...operations.createToken, body: createTokenBody },
  signIn: { ...operations.signIn, body: signInBody },
  listActivity: { ...operations.listActivity, query: activityQuery },
  search: { ...operations.search, query: searchQuery },
  listDeliveries: { ...operations.listDeliveries, query: deliveriesQuery },
  deleteBackupConfiguration: {
    ...operations.deleteBackupConfiguration,
    query: deleteBackupConfigurationQuery,
  },
  showWorkerLog: { ...operations.showWorkerLog, query: workerLogQuery },
} satisfies Record<OperationName, Operation>;

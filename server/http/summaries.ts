// The summary of each operation in the OpenAPI description. Summaries are not in the operation table, because the dashboard loads
// that.
import type { OperationName } from "../../contract/operations.ts";

const summaries = {
  listBackupConfigurations: "List the backup configurations of a server",
  showBackupConfiguration: "Show a backup configuration",
  createBackupConfiguration: "Create a backup configuration",
  updateBackupConfiguration: "Update a backup configuration",
  deleteBackupConfiguration:
    "Delete a backup configuration; stored files are kept unless `files` is `remove`",
  showBackup: "Show a backup",
  runBackup: "Run a backup of a configuration now",
  restoreBackup: "Restore a backup",
  deleteBackup: "Delete a backup and its file",
  listWorkers: "List the workers of a site",
  showWorker: "Show a worker",
  createWorker: "Create a worker",
  stopWorker: "Stop a worker",
  startWorker: "Start a worker",
  restartWorker: "Restart a worker",
  deleteWorker: "Delete a worker once its processes are gone",
  updateWorker:
    "Change a worker: every field but the site; its processes are replaced one after the other",
  withdrawWorkerOrder:
    "Withdraw what waits for a worker's server: a start, stop, restart, change or deletion",
  listWebhooks: "List the webhooks of a site",
  showWebhook: "Show a webhook",
  createWebhook: "Create a webhook; the response shows its secret once",
  deleteWebhook: "Delete a webhook",
  listNotifications: "List the notification channels of a site",
  updateNotifications: "Replace the notification channels of a site",
  showWorkerUsage: "Show what each process of a worker took of CPU and memory over the last hour",
  showWorkerLog: "Read a worker's log: its last lines, or what follows an offset",
  showBackupSchedule:
    "Show the next runs of a backup configuration, and what retention will remove",
  showBackupCounts: "Show how many rows each table had in the last backups of a configuration",
  showStorageForecast: "Show when the storage of a backup configuration will be full",
  listBackups: "List the backups of a configuration",
  downloadBackup:
    "Download a backup's file, or its rest with `Range: bytes=N-`; the download aborts if the file is damaged",
  createDownloadLink:
    "Create a link to a backup's file that works once, for 60 seconds, without a token; the client that used it may continue the download for 24 hours",
  showAdoption:
    "Show the backups in a storage that are not listed: those of an earlier installation, or of a deleted configuration",
  adoptBackups: "Add the backups of a storage that are not listed to the list",
  cancelBackup: "Cancel a backup's run, restore or restore drill",
  pinBackup: "Pin a backup: neither retention nor a request deletes it until it is unpinned",
  unpinBackup: "Unpin a backup: retention and requests may delete it again",
  copyBackup: "Copy the backup again to the second storage of its configuration",
  drillBackup: "Run a restore drill: restore the backup to a scratch location, check it, delete it",
  showBackupContents: "Show what is in a backup: its tables with their rows, or how many files",
  browseArchive: "List the files in a backup of a site's folder, folder by folder or by a search",
  browseObjects:
    "List what is in a backup of a PostgreSQL database beside tables, by kind or by a search",
  showDatabaseContents:
    "Count the rows of a database as it is now, to compare them with a backup before it is restored there",
  showSiteContents: "Show whether a restore into a site would replace anything",
  restoreIntoDatabase:
    "Restore a backup into another database, or into a new one on the same server",
  importDatabaseFile:
    "Make a backup of a database out of a file in a storage, or of one that is sent as application/octet-stream",
  importSiteFile:
    "Make a backup of a site's folder out of an archive in a storage, or of one that is sent as application/octet-stream",
  showImportableFiles: "Show the files in a storage that can be imported",
  restoreIntoSite: "Restore a backup of a site's folder into another site",
  listDeliveries: "List the deliveries of a webhook",
  showDelivery: "Show a delivery with its attempts, requests and answers",
  redeliver: "Redeliver a delivery with the same message id",
  updateWebhook: "Change a webhook, pause it or enable it; fields left out stay as they are",
  redeliverMissed:
    "Send the deliveries that a webhook missed while disabled or paused, or all that failed",
  pingWebhook: "Send a ping to a webhook",
  rotateWebhookSecret: "Rotate a webhook's secret; the previous secret also signs for 24 hours",
  showNotificationEvents: "Show which events each notification channel of a site gets",
  updateNotificationEvents: "Replace the choice of events of a site's notification channels",
  listServerNotifications: "List the channels for events of a server that belong to no site",
  updateServerNotifications: "Replace the channels for events of a server that belong to no site",
  showServerNotificationEvents: "Show which events each notification channel of a server gets",
  updateServerNotificationEvents:
    "Replace the choice of events of a server's notification channels",
  listNotificationChannels: "List the account's notification channels",
  testNotificationChannel: "Send a test message to a notification channel",
  reportDeployment: "Report a deployment or a failed deployment of a site",
  showOverview: "Show problems over all servers",
  listActivity: "Read the timeline: changes, runs and deliveries, newest first",
  search:
    "Find servers, sites, databases, backup configurations, workers, webhooks and tokens by name or id",
  listServers: "List the servers",
  showServer: "Show a server",
  showServerStatus: "Show whether a server responds, and what was found on it",
  discoverServer:
    "Look for sites, databases and queue workers on a server; adds nothing; requires a token for every server",
  findDatabases:
    "List the databases of a database server that was found; stores no credentials; requires a token for every server",
  takeOverProgram:
    "Create a worker that takes the place of a program of supervisord, and stop the program once the worker is up; requires a token for every server",
  listSites: "List the sites of a server",
  showSite: "Show a site",
  listDatabases: "List the databases of a server",
  listStorageProviders: "List the storage providers",
  showInstallation: "Show the version, its account, and whether sites run as their own accounts",
  showInventory:
    "Show the inventory file: its entries, its version, and whether it can be written; requires a token for every server",
  createServerEntry: "Add a server to the inventory file",
  updateServerEntry: "Change a server in the inventory file",
  deleteServerEntry: "Remove a server from the inventory file, unless something uses it",
  testServerEntry: "Test a server as an inventory entry describes it; nothing is stored",
  createSiteEntry: "Add a site to the inventory file",
  updateSiteEntry: "Change a site in the inventory file",
  deleteSiteEntry: "Remove a site from the inventory file, unless something uses it",
  createDatabaseEntry: "Add a database to the inventory file",
  updateDatabaseEntry: "Change a database in the inventory file",
  deleteDatabaseEntry: "Remove a database from the inventory file, unless something uses it",
  testDatabaseEntry: "Test a database as an inventory entry describes it; nothing is stored",
  createStorageEntry: "Add a storage provider to the inventory file",
  updateStorageEntry: "Change a storage provider in the inventory file",
  deleteStorageEntry: "Remove a storage provider from the inventory file, unless something uses it",
  testStorageEntry: "Test a storage provider as an inventory entry describes it; nothing is stored",
  createChannelEntry: "Add a notification channel to the inventory file",
  updateChannelEntry: "Change a notification channel in the inventory file",
  deleteChannelEntry:
    "Remove a notification channel from the inventory file, unless something uses it",
  testChannelEntry:
    "Test a notification channel as an inventory entry describes it; nothing is stored",
  checkInstallation:
    "Check the installation as `quarterdeck doctor` does; requires a token for every server",
  listTokens: "List the tokens; requires a token for every server",
  createToken: "Create a token, shown once; requires a token for every server",
  deleteToken: "Revoke a token; requires a token for every server",
  showCurrentToken: "Show the current token",
  signIn: "Exchange the one-time code printed by the service for a token, shown once",
} satisfies Record<OperationName, string>;

/** Summaries by operation id. */
export const summaryOf: ReadonlyMap<string, string> = new Map(Object.entries(summaries));

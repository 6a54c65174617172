// What the backup pages ask the service. Lists of the account and everything beside the interface are extras.
import { maxPerPage } from "../../contract/paging.ts";
import { extraQuery, query } from "../api/query.ts";

const whole = { per_page: String(maxPerPage) };

export const configurationsQuery = (serverId: number, page = 1) =>
  query("listBackupConfigurations", { id: serverId }, page > 1 ? { page: String(page) } : {});

export const configurationQuery = (id: number) => query("showBackupConfiguration", { id });

export const backupQuery = (id: number) => query("showBackup", { id });

/** The runs of a configuration, page by page; null from a service that shows them only inside the configuration. */
export const backupsQuery = (configurationId: number, page = 1) =>
  extraQuery("listBackups", { id: configurationId }, page > 1 ? { page: String(page) } : {});

export const scheduleQuery = (configurationId: number) =>
  extraQuery("showBackupSchedule", { id: configurationId });

export const databasesQuery = (serverId: number) =>
  extraQuery("listDatabases", { id: serverId }, whole);

export const storageProvidersQuery = () => extraQuery("listStorageProviders", {}, whole);

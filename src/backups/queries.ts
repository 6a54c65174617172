// Queries of the backup pages. Lists of the account and everything beyond the interface are extras.
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import type { Page } from "../../contract/paging.ts";
import type { Database } from "../../contract/servers.ts";
import type { QueryOf } from "../api/client.ts";
import { fetchAllPages } from "../api/fetch-all-pages.ts";
import { listQuery, type ListView } from "../api/list-query.ts";
import { largePageQuery } from "../api/page-query.ts";
import { extraQuery, query, queryClient } from "../api/query.ts";

export const configurationsQuery = (serverId: number, view: ListView) =>
  listQuery(view, (wanted) => query("listBackupConfigurations", { id: serverId }, wanted));

export const configurationQuery = (id: number) => query("showBackupConfiguration", { id });

/**
 * Returns the configuration in whose cached responses a backup was seen, for services whose backups do not name it;
 * null = none.
 */
export function configurationWith(backupId: number): number | null {
  const lists = queryClient.getQueriesData<Page<BackupConfiguration>>({
    queryKey: ["listBackupConfigurations"],
  });
  const shown = queryClient.getQueriesData<BackupConfiguration>({
    queryKey: ["showBackupConfiguration"],
  });
  const seen = [...lists.flatMap(([, list]) => list?.data ?? []), ...shown.map(([, one]) => one)];
  const found = seen.find(
    (one) =>
      one?.last_backup?.id === backupId || one?.backups.some(({ id }) => id === backupId) === true,
  );
  return found?.id ?? null;
}

export const backupQuery = (id: number) => query("showBackup", { id });

/** Newest first. */
export const usualRunSort = "-id";

/** The runs of a configuration, page by page; null for a service that returns them only inside the configuration. */
export const backupsQuery = (configurationId: number, view: ListView) =>
  listQuery(
    view,
    (wanted) => extraQuery("listBackups", { id: configurationId }, wanted),
    usualRunSort,
  );

/** The response changes whenever a backup has finished or was deleted, so backups are part of the key. */
export const scheduleQuery = ({ id, backups }: BackupConfiguration) => {
  const { queryKey, queryFn } = extraQuery("showBackupSchedule", { id });
  const finished = backups.filter(({ status }) => status === "finished");
  return { queryKey: [...queryKey, finished.map((backup) => backup.id)], queryFn };
};

/** Like the schedule, the response changes whenever a backup has finished. */
export const countsQuery = ({ id, backups }: BackupConfiguration) => {
  const { queryKey, queryFn } = extraQuery("showBackupCounts", { id });
  const finished = backups.filter(({ status }) => status === "finished");
  return { queryKey: [...queryKey, finished.map((backup) => backup.id)], queryFn };
};

/** Like the schedule, the response changes whenever a backup has finished. */
export const storageForecastQuery = ({ id, backups }: BackupConfiguration) => {
  const { queryKey, queryFn } = extraQuery("showStorageForecast", { id });
  const finished = backups.filter(({ status }) => status === "finished");
  return { queryKey: [...queryKey, finished.map((backup) => backup.id)], queryFn };
};

/** For a schedule and keep rules that are not saved. */
export const planForecastQuery = (id: number, plan: QueryOf<"showStorageForecast">) =>
  extraQuery("showStorageForecast", { id }, plan);

export const storageProvidersQuery = () => extraQuery("listStorageProviders", {}, largePageQuery());

export const everyConfigurationQuery = (serverId: number) =>
  fetchAllPages<BackupConfiguration>((page) =>
    query("listBackupConfigurations", { id: serverId }, largePageQuery(page)),
  );

export const everyDatabaseQuery = (serverId: number) =>
  fetchAllPages<Database, null>((page) =>
    extraQuery("listDatabases", { id: serverId }, largePageQuery(page)),
  );

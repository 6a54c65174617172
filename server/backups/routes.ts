import { downloadLinkSeconds } from "../../contract/backups/backup.ts";
import { pathOf } from "../../contract/operation.ts";
import { servedOperations } from "../../contract/served-operations.ts";
import { toTimestamp } from "../../contract/values.ts";
import { FileResponse } from "../http/file-response.ts";
import { listFilters } from "../http/list-filters.ts";
import { filteredListRoute, reply, route, type Caller, type Route } from "../http/route.ts";
import { createServerFinder } from "../inventory/finders.ts";
import type { InventoryStore } from "../inventory/store.ts";
import type { OneTimeLinks } from "../tokens/one-time-links.ts";
import { countedBackups } from "../../contract/backups/counts.ts";
import type { BackupRow } from "./backup-store.ts";
import type { BackupService } from "./backup-service.ts";
import type { Browse } from "./restore/browse.ts";
import type { createCurrentContents } from "./restore/contents.ts";
import type { ConfigurationService } from "./configuration-service.ts";
import type { ConfigurationRow } from "./configuration-store.ts";
import { restoreRoutes } from "./restore/restore-routes.ts";
import type { RestoreService } from "./restore/restore-service.ts";
import type { ScheduleService } from "./schedule/schedule-service.ts";
import type { CountsStore } from "./counts-store.ts";
import { DamagedBackup } from "./pipeline/read-verified.ts";
import { readPlan, type ForecastService } from "./retention/forecast-service.ts";
import { toCounts } from "./counts-response.ts";
import type { Serializer } from "./serializer.ts";

type BackupRoutesOptions = {
  restores: RestoreService;
  browse: Browse;
  currentContents: ReturnType<typeof createCurrentContents>;
  configurations: ConfigurationService;
  backups: BackupService;
  schedules: ScheduleService;
  serializer: Serializer;
  countsStore: CountsStore;
  forecasts: ForecastService;
  inventory: InventoryStore;
  links: OneTimeLinks;
};

const filePath = ({ id }: BackupRow) => pathOf(servedOperations.downloadBackup, { id });

export function backupRoutes(options: BackupRoutesOptions): Route[] {
  const { configurations, backups, schedules, serializer, inventory, links } = options;

  /** A browser would continue the download of a damaged file, which would be read again and again. A link that stays costs only that. */
  const endLinks = (row: BackupRow, error: unknown): void => {
    if (error instanceof DamagedBackup) links.end(filePath(row)).catch(() => undefined);
  };

  const findServer = createServerFinder(inventory);
  const findById = async (id: number, caller: Caller): Promise<ConfigurationRow | null> => {
    const row = await configurations.byId(id);
    return row !== null && caller.reaches(row.server_id) ? row : null;
  };
  const findConfiguration = ({ id }: { id: number }, caller: Caller) => findById(id, caller);
  const findBackup = async ({ id }: { id: number }, caller: Caller): Promise<BackupRow | null> => {
    const found = await backups.withConfiguration(id);
    return found !== null && caller.reaches(found.configuration.server_id) ? found.backup : null;
  };

  /** Looks up a backup, and the server on which it runs. */
  const ofServer = {
    find: findBackup,
    runsOn: async ({ configuration_id }: BackupRow) =>
      (await configurations.byId(configuration_id))?.server_id ?? 0,
  };

  return [
    ...restoreRoutes({ ...options, ofBackup: ofServer }),
    filteredListRoute(servedOperations.listBackupConfigurations, {
      find: findServer,
      filters: listFilters.listBackupConfigurations,
      list: async (page, { found }) => {
        const { rows, ...counted } = await configurations.list(found.id, page);
        return { items: await serializer.toList(rows), ...counted };
      },
    }),
    route(servedOperations.showBackupConfiguration, {
      find: findConfiguration,
      handle: async ({ found }) => reply(200, await serializer.toConfiguration(found)),
    }),
    route(servedOperations.createBackupConfiguration, {
      find: findServer,
      check: ({ found, fields, caller }) => configurations.checkNew(found, fields, caller.reaches),
      handle: async ({ found, body }) => {
        const row = await configurations.create(found, body);
        const location = `/api/backup-configuration/${row.id}`;
        return reply(201, await serializer.toConfiguration(row), location);
      },
    }),
    route(servedOperations.updateBackupConfiguration, {
      find: findConfiguration,
      check: ({ found, fields }) => configurations.checkChange(found, fields),
      handle: async ({ found, body }) =>
        reply(200, await serializer.toConfiguration(await configurations.update(found.id, body))),
    }),
    route(servedOperations.deleteBackupConfiguration, {
      find: findConfiguration,
      handle: async ({ found, query }) => {
        await configurations.remove(found.id, query.files === "remove");
        return reply(204);
      },
    }),
    route(servedOperations.showBackup, {
      find: findBackup,
      handle: async ({ found }) => reply(200, await serializer.toBackup(found)),
    }),
    route(servedOperations.runBackup, {
      find: ({ backupConfigurationId }, caller) => findById(backupConfigurationId, caller),
      handle: async ({ found }) => {
        const { backup } = await backups.run(found.id);
        return reply(202, await serializer.toBackup(backup), `/api/backup/${backup.id}`);
      },
    }),
    route(servedOperations.deleteBackup, {
      find: findBackup,
      handle: async ({ found }) => {
        await backups.remove(found);
        return reply(204);
      },
    }),
    route(servedOperations.showBackupSchedule, {
      find: findConfiguration,
      handle: async ({ found }) => {
        const { timeZone, runs, clockChange, removed } = await schedules.preview(found);
        return reply(200, {
          frequency: found.frequency,
          time_zone: timeZone,
          next_runs: runs.map(toTimestamp),
          clock_change: clockChange,
          removes_next: removed.map(({ id, path, size, ended_at, started_at }) => ({
            id,
            path,
            size,
            ended_at: toTimestamp(ended_at ?? started_at),
          })),
        });
      },
    }),
    route(servedOperations.showBackupCounts, {
      find: findConfiguration,
      handle: async ({ found }) =>
        reply(200, toCounts(await options.countsStore.newest(found.id, countedBackups))),
    }),
    route(servedOperations.showStorageForecast, {
      find: findConfiguration,
      runsOn: async ({ server_id: serverId }) => serverId,
      isKnownWithout: true,
      handle: async ({ found, query, signal }) =>
        reply(200, await options.forecasts.of(found, readPlan(query), signal)),
    }),
    filteredListRoute(servedOperations.listBackups, {
      find: findConfiguration,
      filters: listFilters.listBackups,
      list: async (page, { found }) => {
        const { rows, ...counted } = await backups.list(found.id, page);
        return { items: await serializer.toBackups(rows), ...counted };
      },
    }),
    route(servedOperations.downloadBackup, {
      ...ofServer,
      handle: async ({ found }) => {
        const file = await backups.download(found);
        file.content.once("error", (error) => endLinks(found, error));
        return reply(200, new FileResponse(file));
      },
    }),
    route(servedOperations.createDownloadLink, {
      ...ofServer,
      handle: async ({ found, caller, url }) => {
        // Checks the file now, because a browser that follows the link could not show the error.
        await backups.findFile(found);
        const path = filePath(found);
        const { code, expiresAt } = await links.create(path, caller.tokenId, downloadLinkSeconds);
        return reply(201, {
          url: `${new URL("file", url).href}?code=${code}`,
          expires_at: toTimestamp(expiresAt),
        });
      },
    }),
    route(servedOperations.cancelBackup, {
      find: findBackup,
      // A restore to another server runs on the target's server.
      runsOn: async (row) => (await backups.workServer(row)) ?? ofServer.runsOn(row),
      handle: async ({ found, caller }) =>
        reply(202, await serializer.toBackup(await backups.cancel(found, caller.name))),
    }),
    route(servedOperations.pinBackup, {
      find: findBackup,
      handle: async ({ found }) =>
        reply(200, await serializer.toBackup(await backups.setPinned(found, true))),
    }),
    route(servedOperations.unpinBackup, {
      find: findBackup,
      handle: async ({ found }) =>
        reply(200, await serializer.toBackup(await backups.setPinned(found, false))),
    }),
    route(servedOperations.copyBackup, {
      find: findBackup,
      handle: async ({ found }) => {
        const copy = await backups.copy(found);
        return reply(202, await serializer.toBackup(copy), `/api/backup/${copy.id}`);
      },
    }),
    route(servedOperations.drillBackup, {
      find: findBackup,
      handle: async ({ found }) =>
        reply(202, await serializer.toBackup(await backups.drill(found))),
    }),
  ];
}

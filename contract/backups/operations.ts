// The backups' operations: their rows of the table `contract/operations.ts`.
import * as z from "zod/mini";
import type { Adoption } from "./adoption.ts";
import type { BackupCounts } from "./counts.ts";
import type { StorageForecast } from "./storage-forecast.ts";
import { backup, backupConfiguration, backupSchedule, downloadLink } from "./backup.ts";
import { file, operation } from "../operation.ts";
import { filteredListOf } from "../paging.ts";

/** The operations of the interface. */
export const backupOperations = {
  listBackupConfigurations: operation({
    tag: "backups",
    path: "/api/server/{id}/backups",
    ...filteredListOf(backupConfiguration),
  }),
  showBackupConfiguration: operation({
    tag: "backups",
    method: "GET",
    path: "/api/backup-configuration/{id}",
    responses: { 200: backupConfiguration },
  }),
  createBackupConfiguration: operation({
    tag: "backups",
    method: "POST",
    path: "/api/server/{id}/backup-configuration",
    responses: { 201: backupConfiguration },
  }),
  updateBackupConfiguration: operation({
    tag: "backups",
    method: "PUT",
    path: "/api/backup-configuration/{id}",
    responses: { 200: backupConfiguration },
  }),
  deleteBackupConfiguration: operation({
    tag: "backups",
    method: "DELETE",
    path: "/api/backup-configuration/{id}",
    responses: { 204: null },
  }),
  showBackup: operation({
    tag: "backups",
    method: "GET",
    path: "/api/backup/{id}",
    responses: { 200: backup },
  }),
  runBackup: operation({
    tag: "backups",
    method: "POST",
    path: "/api/backup/{backupConfigurationId}",
    responses: { 202: backup },
    isBodyOpen: true,
  }),
  restoreBackup: operation({
    tag: "backups",
    method: "PUT",
    path: "/api/backup/{id}",
    responses: { 202: backup },
    isBodyOpen: true,
  }),
  deleteBackup: operation({
    tag: "backups",
    method: "DELETE",
    path: "/api/backup/{id}",
    responses: { 204: null },
  }),
};

/** A storage may have backups of any server, so these need a token for all servers. */
const adoptions = {
  tag: "inventory",
  path: "/api/inventory/storage-providers/{id}/adoption",
  reach: "every server",
} as const;

/** The service adds the schema; the dashboard trusts the response. */
const foundBackups = { responses: { 200: z.custom<Adoption>() } } as const;

export const backupExtras = {
  showBackupSchedule: operation({
    tag: "backups",
    method: "GET",
    path: "/api/backup-configuration/{id}/schedule",
    responses: { 200: backupSchedule },
  }),
  showBackupCounts: operation({
    tag: "backups",
    method: "GET",
    path: "/api/backup-configuration/{id}/counts",
    // As above: the service adds the schema.
    responses: { 200: z.custom<BackupCounts>() },
  }),
  showStorageForecast: operation({
    tag: "backups",
    method: "GET",
    path: "/api/backup-configuration/{id}/storage-forecast",
    responses: { 200: z.custom<StorageForecast>() },
  }),
  listBackups: operation({
    tag: "backups",
    path: "/api/backup-configuration/{id}/backups",
    ...filteredListOf(backup),
  }),
  downloadBackup: operation({
    tag: "backups",
    method: "GET",
    path: "/api/backup/{id}/file",
    responses: { 200: file },
    // The file contains all data of the site or database.
    ability: "*",
    takesCode: true,
  }),
  createDownloadLink: operation({
    tag: "backups",
    method: "POST",
    path: "/api/backup/{id}/download-link",
    responses: { 201: downloadLink },
  }),
  showAdoption: operation({
    ...adoptions,
    method: "GET",
    ...foundBackups,
    // The response has names of sites and databases of all servers.
    ability: "*",
  }),
  adoptBackups: operation({ ...adoptions, ...foundBackups, method: "POST" }),
  cancelBackup: operation({
    tag: "backups",
    method: "POST",
    path: "/api/backup/{id}/cancel",
    responses: { 202: backup },
  }),
  pinBackup: operation({
    tag: "backups",
    method: "PUT",
    path: "/api/backup/{id}/pin",
    responses: { 200: backup },
  }),
  unpinBackup: operation({
    tag: "backups",
    method: "DELETE",
    path: "/api/backup/{id}/pin",
    responses: { 200: backup },
  }),
  copyBackup: operation({
    tag: "backups",
    method: "POST",
    path: "/api/backup/{id}/copy",
    responses: { 202: backup },
  }),
  drillBackup: operation({
    tag: "backups",
    method: "POST",
    path: "/api/backup/{id}/drill",
    responses: { 202: backup },
  }),
};

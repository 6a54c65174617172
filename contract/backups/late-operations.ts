// The backups' operations that only restores elsewhere and imports need: the dashboard's first file does without them.
import * as z from "zod/mini";
import { backup } from "./backup.ts";
import { archiveFiles, archiveObjects, backupContents, currentContents } from "./contents.ts";
import type { ImportableFiles } from "./import.ts";
import { operation } from "../operation.ts";

export const lateBackupOperations = {
  showBackupContents: operation({
    tag: "backups",
    method: "GET",
    path: "/api/backup/{id}/contents",
    responses: { 200: backupContents },
  }),
  /** A POST, because what opens an encrypted backup stands in no address. */
  browseArchive: operation({
    tag: "backups",
    method: "POST",
    path: "/api/backup/{id}/files",
    responses: { 200: archiveFiles },
  }),
  /** A POST for the same reason. */
  browseObjects: operation({
    tag: "backups",
    method: "POST",
    path: "/api/backup/{id}/objects",
    responses: { 200: archiveObjects },
  }),
  showDatabaseContents: operation({
    tag: "backups",
    method: "GET",
    path: "/api/database/{id}/contents",
    responses: { 200: currentContents },
    // It counts rows in the database itself.
    ability: "*",
  }),
  showSiteContents: operation({
    tag: "backups",
    method: "GET",
    path: "/api/site/{id}/contents",
    responses: { 200: currentContents },
    ability: "*",
  }),
  restoreIntoDatabase: operation({
    tag: "backups",
    method: "POST",
    path: "/api/database/{id}/restore",
    responses: { 202: backup },
  }),
  restoreIntoSite: operation({
    tag: "backups",
    method: "POST",
    path: "/api/site/{id}/restore",
    responses: { 202: backup },
  }),
  importDatabaseFile: operation({
    tag: "backups",
    method: "POST",
    path: "/api/database/{id}/import",
    responses: { 202: backup },
  }),
  importSiteFile: operation({
    tag: "backups",
    method: "POST",
    path: "/api/site/{id}/import",
    responses: { 202: backup },
  }),
  showImportableFiles: operation({
    tag: "inventory",
    method: "GET",
    path: "/api/storage-providers/{id}/files",
    // Its schema comes with the service: the page that shows them trusts that.
    responses: { 200: z.custom<ImportableFiles>() },
    // A storage may have files of any server.
    ability: "*",
    reach: "every server",
  }),
};

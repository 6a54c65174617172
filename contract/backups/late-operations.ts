// Operations that only restores to another target and imports need, so that the dashboard's first bundle excludes them.
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
  /** A POST, because the identity that decrypts a backup must not appear in a URL. */
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
    // The service counts rows in the database itself.
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
    // The service adds the schema; the page that shows the files trusts the response.
    responses: { 200: z.custom<ImportableFiles>() },
    // A storage may hold files of any server.
    ability: "*",
    reach: "every server",
  }),
};

// Queries that only restores to another target need. All of them are extras.
import type { BrowseArchiveBody, BrowseObjectsBody } from "../../../contract/backups/bodies.ts";
import { lateBackupOperations } from "../../../contract/backups/late-operations.ts";
import { addOperations, call } from "../../api/client.ts";
import { extraQuery } from "../../api/query.ts";

addOperations(lateBackupOperations);

export const backupContentsQuery = (id: number) => extraQuery("showBackupContents", { id });

export type TargetType = "database" | "site";

export const currentContentsQuery = (type: TargetType, id: number) =>
  type === "site"
    ? extraQuery("showSiteContents", { id })
    : extraQuery("showDatabaseContents", { id });

export type FilesView = { folder: string; search: string; page: number };

/**
 * @param opened returns what opens an encrypted backup: an identity, or the id of a listing that was opened with one.
 * Not part of the key.
 */
export const filesQuery = (
  id: number,
  { folder, search, page }: FilesView,
  opened: () => Pick<BrowseArchiveBody, "identity" | "passphrase" | "listing">,
) => ({
  queryKey: ["browseArchive", { id }, { folder, search, page }] as const,
  queryFn: () => call("browseArchive", { id }, { body: { ...opened(), folder, search, page } }),
});

export type ObjectsView = { kind: string; search: string; page: number };

/** @param opened as in `filesQuery` */
export const objectsQuery = (
  id: number,
  { kind, search, page }: ObjectsView,
  opened: () => Pick<BrowseObjectsBody, "identity" | "passphrase" | "listing">,
) => ({
  queryKey: ["browseObjects", { id }, { kind, search, page }] as const,
  queryFn: () => call("browseObjects", { id }, { body: { ...opened(), kind, search, page } }),
});

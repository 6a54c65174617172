// Queries that only imports need. All of them are extras.
import type { BackupableType } from "../../../contract/backups/backup.ts";
import { importableFiles } from "../../../contract/backups/import.ts";
import { lateBackupOperations } from "../../../contract/backups/late-operations.ts";
import { addOperations, call } from "../../api/client.ts";

addOperations(lateBackupOperations);

/** The source that the imported backup is to belong to. */
export type ImportTarget = { type: BackupableType; id: number; name: string };

/** Reading a storage is slow: there are no retries, and leaving the page aborts it. */
export const importableFilesQuery = (storageId: number, prefix: string) => ({
  queryKey: ["showImportableFiles", { id: storageId }, { prefix }] as const,
  queryFn: async ({ signal }: { signal: AbortSignal }) =>
    importableFiles.parse(
      await call("showImportableFiles", { id: storageId }, { query: { prefix }, signal }),
    ),
  gcTime: 0,
  retry: false,
});

export const importStored = ({ type, id }: ImportTarget, storageId: number, path: string) => {
  const body = { storage_provider_id: storageId, path };
  return type === "site"
    ? call("importSiteFile", { id }, { body })
    : call("importDatabaseFile", { id }, { body });
};

// Hands a backup's file to the browser's own download manager, by a link that works once: the token enters no address.
import type { Backup } from "../../contract/backups/backup.ts";
import { pathOf } from "../../contract/operation.ts";
import { backupExtras } from "../../contract/backups/operations.ts";
import { call } from "../api/client.ts";
import { sessions } from "../api/session.ts";

/** @throws ApiError, e.g. where the stored file is missing */
export async function downloadBackup({ id, path }: Backup): Promise<void> {
  const { url } = await call("createDownloadLink", { id });
  // The service is asked where this page reaches it; behind a proxy it may know itself by another address.
  const address = sessions.current()?.address ?? "";
  const link = document.createElement("a");
  link.href = `${address}${pathOf(backupExtras.downloadBackup, { id })}${new URL(url, location.href).search}`;
  link.download = path.split("/").at(-1) ?? "";
  link.click();
}

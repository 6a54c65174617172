// Uploads a file by XMLHttpRequest, because `fetch` does not report progress.
import { type Backup, backup } from "../../../contract/backups/backup.ts";
import { pathOf } from "../../../contract/operation.ts";
import { lateBackupOperations } from "../../../contract/backups/late-operations.ts";
import { ApiError, toApiError } from "../../api/api-error.ts";
import { requestHeaders } from "../../api/request-headers.ts";
import { sessions } from "../../api/session.ts";
import { serviceNow } from "../../service-clock.ts";
import type { ImportTarget } from "./queries.ts";

type UploadOptions = {
  storageId: number;
  /** @param sent bytes */
  onProgress: (sent: number) => void;
  /** Aborts the upload; the service then keeps nothing. */
  signal: AbortSignal;
};

/** @throws ApiError, or the signal's reason */
export async function uploadFile(
  { type, id }: ImportTarget,
  file: File,
  { storageId, onProgress, signal }: UploadOptions,
): Promise<Backup> {
  const session = sessions.current();
  if (session === null) throw new ApiError(401, "Not connected.");
  const row =
    type === "site" ? lateBackupOperations.importSiteFile : lateBackupOperations.importDatabaseFile;
  const query = new URLSearchParams({ storage_provider_id: String(storageId), name: file.name });
  const request = new XMLHttpRequest();
  request.open("POST", `${session.address}${pathOf(row, { id })}?${query}`);
  const headers = { ...requestHeaders(session), "content-type": "application/octet-stream" };
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.upload.addEventListener("progress", ({ loaded }) => onProgress(loaded));
  const ended = Promise.withResolvers<void>();
  request.addEventListener("loadend", () => ended.resolve());
  const abort = () => request.abort();
  signal.throwIfAborted();
  signal.addEventListener("abort", abort, { once: true });
  request.send(file);
  await ended.promise;
  signal.removeEventListener("abort", abort);
  signal.throwIfAborted();
  if (request.status === 0) throw new ApiError("unreachable", "The service is not responding.");
  const { status, responseText: text } = request;
  if (status >= 400) throw await toApiError(new Response(text, { status }), serviceNow());
  return backup.parse(JSON.parse(text));
}

// Brings a backup's file to the viewer's machine: as a stream where the browser can write one to disk, through memory
// elsewhere. Not by a link: the token must not enter an address, and a link can send no header.
import type { Backup } from "../../contract/backups/backup.ts";
import { openFile } from "../api/client.ts";
import { createStore } from "../store.ts";

/** What a browser without a file picker would have to hold in memory; more than that is better fetched by hand. */
const mostInMemoryBytes = 500_000_000;
/** `crypto.subtle` takes a content as a whole only. */
const mostHashedBytes = 256_000_000;
/** A progress that is drawn more often is not read more often. */
const toldEveryMs = 200;

export type Download = {
  id: number;
  name: string;
  receivedBytes: number;
  totalBytes: number;
  stop: () => void;
};

/** Those under way. They go on while the viewer is on other pages. */
export const downloads = createStore<readonly Download[]>([]);

const without = (id: number) => downloads.get().filter((download) => download.id !== id);

type Handle = {
  createWritable(): Promise<WritableStream<Uint8Array>>;
  getFile(): Promise<Blob>;
};
type Picker = (options: { suggestedName: string }) => Promise<Handle>;

const isAbort = (error: unknown) => error instanceof DOMException && error.name === "AbortError";

/** A download that failed for a reason that the viewer is to read. */
export class DownloadError extends Error {
  override readonly name = "DownloadError";
}

const fileNameOf = ({ id, path }: Backup) => path.split("/").at(-1) || `backup-${id}`;

/**
 * @returns false when the viewer chose not to save it, or stopped it
 * @throws ApiError, or a DownloadError that says what to do instead
 */
export async function downloadBackup(backup: Backup): Promise<boolean> {
  const { id, size: totalBytes } = backup;
  if (downloads.get().some((download) => download.id === id)) return false;
  const name = fileNameOf(backup);
  const { signal, stop, stopped } = makeStop();
  try {
    // Asked first: a browser opens its dialog only right after a click.
    const handle = await pickFile(name);
    if (handle === null && totalBytes > mostInMemoryBytes)
      throw new DownloadError(
        `This browser can't save a file this large. Download it with curl from /api/backup/${id}/file.`,
      );
    downloads.set([...downloads.get(), { id, name, receivedBytes: 0, totalBytes, stop }]);
    const receive =
      handle === null ? toMemory(backup, name, signal) : toFile(backup, handle, signal);
    // A pipe that is stopped waits for what is being written, and a disk may take its time.
    await Promise.race([receive, stopped]);
    return true;
  } catch (error) {
    if (isAbort(error)) return false;
    // The browser's own, e.g. of a disk that is full.
    if (error instanceof DOMException)
      throw new DownloadError(`Couldn't write the file: ${error.message}`);
    throw error;
  } finally {
    downloads.set(without(id));
  }
}

function makeStop() {
  const stopping = new AbortController();
  const stopped = new Promise<never>((_, reject) =>
    stopping.signal.addEventListener("abort", () => reject(stopping.signal.reason)),
  );
  return { signal: stopping.signal, stop: () => stopping.abort(), stopped };
}

async function toFile(backup: Backup, handle: Handle, signal: AbortSignal): Promise<void> {
  const file = await handle.createWritable();
  const content = await openContent(backup).catch(async (error: unknown) => {
    await file.abort();
    throw error;
  });
  // What breaks off is not kept: the browser puts the file in place only when the stream is closed.
  await content.pipeTo(file, { signal });
  await checkContent(await handle.getFile(), backup);
}

async function toMemory(backup: Backup, name: string, signal: AbortSignal): Promise<void> {
  const content = await openContent(backup);
  const parts: BlobPart[] = [];
  await content.pipeTo(new WritableStream({ write: (part) => void parts.push(part) }), { signal });
  const blob = new Blob(parts);
  await checkContent(blob, backup);
  saveBlob(blob, name);
}

/** Null where the browser has no such dialog, or does not allow it here, e.g. in a frame. */
async function pickFile(suggestedName: string): Promise<Handle | null> {
  // Only some browsers have it, and the types of none know it.
  const { showSaveFilePicker: pick } = globalThis as { showSaveFilePicker?: Picker };
  if (pick === undefined) return null;
  return pick({ suggestedName }).catch((error: unknown) => {
    if (isAbort(error)) throw error;
    return null;
  });
}

/** The content as it comes, counted. It fails where it ends too early. */
async function openContent({ id, size }: Backup) {
  const { body } = await openFile("downloadBackup", { id });
  if (body === null) throw brokenOff();
  const reader = body.getReader();
  let receivedBytes = 0;
  let toldMs = 0;
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await reader.read().catch(() => {
        throw brokenOff();
      });
      if (done) {
        if (receivedBytes !== size) throw brokenOff();
        return controller.close();
      }
      receivedBytes += value.byteLength;
      if (performance.now() - toldMs > toldEveryMs) {
        toldMs = performance.now();
        tell(id, receivedBytes);
      }
      controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

const tell = (id: number, receivedBytes: number) =>
  downloads.set(downloads.get().map((one) => (one.id === id ? { ...one, receivedBytes } : one)));

/** What came against what was stored. */
async function checkContent(content: Blob, { checksum }: Backup): Promise<void> {
  // Over plain http from another machine there is no `crypto.subtle`; the service has checked it while it sent it.
  const { subtle } = globalThis.crypto as { subtle?: SubtleCrypto };
  if (!checksum || subtle === undefined || content.size > mostHashedBytes) return;
  const digest = new Uint8Array(await subtle.digest("SHA-256", await content.arrayBuffer()));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (hex !== checksum.toLowerCase())
    throw new DownloadError(
      "The downloaded file doesn't match the stored checksum (SHA-256). Don't use it.",
    );
}

function saveBlob(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Some browsers read it only after the click is over.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

const brokenOff = () =>
  new DownloadError(
    "The download was interrupted: the stored file is damaged or the service is unreachable. Try again.",
  );

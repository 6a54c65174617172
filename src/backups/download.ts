// Brings a backup's file to the viewer's machine, as a stream where the browser can write one to disk.
import type { Backup } from "../../contract/backups/backup.ts";
import { openFile } from "../api/client.ts";

/** What a browser without a file picker would have to hold in memory; more than that is better fetched by hand. */
const mostInMemoryBytes = 500_000_000;

type Picker = (options: { suggestedName: string }) => Promise<{
  createWritable(): Promise<WritableStream<Uint8Array>>;
}>;

const fileNameOf = ({ id, path }: Backup) => path.split("/").at(-1) || `backup-${id}`;

/** @returns false when the viewer chose not to save it. @throws ApiError, or an Error that says what to do instead */
export async function downloadBackup(backup: Backup): Promise<boolean> {
  const suggestedName = fileNameOf(backup);
  // Only some browsers have it, and the types of none know it.
  const { showSaveFilePicker: pick } = globalThis as { showSaveFilePicker?: Picker };
  if (pick === undefined) return downloadInMemory(backup, suggestedName);
  let file: WritableStream<Uint8Array>;
  try {
    file = await (await pick({ suggestedName })).createWritable();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return false;
    // Not allowed here, e.g. in a frame.
    return downloadInMemory(backup, suggestedName);
  }
  const { body } = await openFile("downloadBackup", { id: backup.id });
  await body?.pipeTo(file).catch(() => {
    throw new Error(
      "The download broke off: the file is not what was stored, or the service went away.",
    );
  });
  return true;
}

async function downloadInMemory(backup: Backup, name: string): Promise<boolean> {
  if (backup.size > mostInMemoryBytes)
    throw new Error(
      `This browser cannot write a file this large as it comes. Fetch it with curl from /api/backup/${backup.id}/file.`,
    );
  const response = await openFile("downloadBackup", { id: backup.id });
  const content = await response.blob().catch(() => {
    throw new Error(
      "The download broke off: the file is not what was stored, or the service went away.",
    );
  });
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
  return true;
}

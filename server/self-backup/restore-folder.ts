// The data folder during a restore: puts files in place, and keeps a marker until the restore is complete.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readdir, readFile, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { commandLine } from "../program-name.ts";
import { toError } from "../to-error.ts";
import { SelfBackupError } from "./self-backup-error.ts";
import { syncFolder } from "../sync-folder.ts";

const markerName = "restoring.json";
/** Files of the lock, which are not data. */
const lockNames = new Set(["lock", "instance.lock", "instance.pid"]);
const databaseName = "postgres";

type Marker = {
  /** Also stored in the database by the restore's transaction. */
  id: string;
  /** Files that were created, with the topmost folder that was created for each. */
  files: { path: string; folder: string | null }[];
};

/**
 * Prevents a service from starting on an incomplete restore.
 * @throws SelfBackupError
 */
export function refuseHalfRestored(dataFolder: string): void {
  if (existsSync(join(dataFolder, markerName)))
    throw new SelfBackupError(
      `A restore into ${dataFolder} was cut off. Run the same restore-self command again: it finishes the restore or makes it again. To start with nothing instead, delete that folder.`,
    );
}

/**
 * Call it while holding the folder's lock.
 * @throws SelfBackupError the folder already has data
 */
export async function openRestoreFolder(dataFolder: string, inventoryFile: string) {
  const path = join(dataFolder, markerName);
  const earlier = await readMarker(path);
  const isKnown = (file: string) => earlier?.files.some((made) => made.path === file) === true;
  const others = (await readdir(dataFolder)).filter(
    (name) =>
      !lockNames.has(name) &&
      !(earlier !== null && [markerName, databaseName, "secrets", "inventory.yaml"].includes(name)),
  );
  if (others.length > 0)
    throw new SelfBackupError(
      `Couldn't restore into ${dataFolder}: it is not empty, but has ${others.slice(0, 3).join(", ")}${others.length > 3 ? ` and ${others.length - 3} more` : ""}. Nothing was changed. Set QUARTERDECK_DATA to an empty folder, or move that one away.`,
    );
  if (existsSync(inventoryFile) && !isKnown(inventoryFile))
    throw new SelfBackupError(
      `Couldn't restore the inventory: ${inventoryFile} is there already. Nothing was changed. Move it away, then run \`${commandLine("restore-self")}\` again.`,
    );
  let marker: Marker = earlier ?? { id: randomUUID(), files: [] };
  await note();

  async function note(): Promise<void> {
    const file = await open(path, "w", 0o600);
    try {
      await file.writeFile(`${JSON.stringify(marker)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async function removeFiles(): Promise<void> {
    for (const { path: made, folder } of marker.files) {
      await rm(made, { force: true });
      if (folder !== null) await removeEmpty(dirname(made), folder);
    }
  }

  return {
    id: marker.id,
    /** Whether an earlier restore was interrupted here. */
    isRerun: earlier !== null,

    /** Removes the files of an interrupted restore. */
    async startAnew(): Promise<void> {
      await removeFiles();
      marker = { ...marker, files: [] };
      await note();
    },

    /**
     * Writes files that only this account can read. An existing file with the same content stays.
     * @throws SelfBackupError a file exists with other content
     */
    async place(files: ReadonlyMap<string, Buffer>): Promise<void> {
      for (const [file, content] of files) {
        const there = await readFile(file).catch((error: unknown) => {
          if (toError(error).code === "ENOENT") return null;
          throw error;
        });
        if (there !== null && !there.equals(content))
          throw new SelfBackupError(
            `Couldn't restore ${file}: another one is there already. Nothing was restored. Move it away, then run the same command again.`,
          );
        if (there !== null) continue;
        const folder = await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        marker.files.push({ path: file, folder: folder ?? null });
        await note();
        // Never follows a link, and never overwrites a file.
        const handle = await open(file, "wx", 0o600);
        try {
          await handle.writeFile(content);
          await handle.sync();
        } finally {
          await handle.close();
        }
        await syncFolder(dirname(file));
      }
    },

    /** Called when everything is in place, including the database. */
    finish: () => rm(path, { force: true }),

    /** @param withDatabase whether to remove the embedded database too, which must have ended */
    async undo(withDatabase: boolean): Promise<void> {
      await removeFiles();
      if (withDatabase) await removeEmbedded(join(dataFolder, databaseName));
      await rm(path, { force: true });
    },
  };
}

async function readMarker(path: string): Promise<Marker | null> {
  try {
    const marker: Marker = JSON.parse(await readFile(path, "utf8"));
    return marker;
  } catch (error) {
    if (toError(error).code === "ENOENT") return null;
    // An interrupted first write of the marker, before which nothing was created.
    if (error instanceof SyntaxError) return { id: randomUUID(), files: [] };
    throw error;
  }
}

/** Stops at a folder that contains other files. */
async function removeEmpty(folder: string, topmost: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch {
    return;
  }
  if (folder !== topmost) await removeEmpty(dirname(folder), topmost);
}

/** Removes a database that has ended, also where it is stored outside of `folder`. */
export async function removeEmbedded(folder: string): Promise<void> {
  const elsewhere = await readFile(join(folder, "moved-to.txt"), "utf8").catch(() => "");
  if (elsewhere.trim() !== "") await rm(elsewhere.trim(), { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
}

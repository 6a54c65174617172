// The data folder while it is restored: files that are put in place, and a marker that says that they are not all of it yet.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readdir, readFile, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "../inventory/replace-file.ts";
import { commandLine } from "../program-name.ts";
import { toError } from "../to-error.ts";
import { SelfBackupError } from "./self-backup-error.ts";

const markerName = "restoring.json";
/** What a lock leaves, which is no data. */
const lockNames = new Set(["lock", "instance.lock", "instance.pid"]);
const databaseName = "postgres";

type Marker = {
  /** The database has the same, once its transaction is committed. */
  id: string;
  /** Files that were made, and the topmost folder that was made for each. */
  files: { path: string; folder: string | null }[];
};

/** A service must not start on half of an installation. @throws SelfBackupError */
export function refuseHalfRestored(dataFolder: string): void {
  if (existsSync(join(dataFolder, markerName)))
    throw new SelfBackupError(
      `A restore into ${dataFolder} was cut off. Run the same restore-self command again: it finishes the restore or makes it again. To start with nothing instead, delete that folder.`,
    );
}

/**
 * To be called with the lock of the folder.
 * @throws SelfBackupError there is data already
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
    /** Whether a restore was cut off here, at whatever point. */
    isRerun: earlier !== null,

    /** Removes what a restore that was cut off has put in place. */
    async startAnew(): Promise<void> {
      await removeFiles();
      marker = { ...marker, files: [] };
      await note();
    },

    /**
     * Puts files in place that only this account can read. One that is there with the same content stays.
     * @throws SelfBackupError one is there with other content
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
        // Never through a link, and never over what is there.
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

    /** All of it is there, and in the database too. */
    finish: () => rm(path, { force: true }),

    /** @param withDatabase whether the embedded one goes too; it must have ended */
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
    // It was cut off while the marker was being written for the first time, before anything else.
    if (error instanceof SyntaxError) return { id: randomUUID(), files: [] };
    throw error;
  }
}

/** Others may have put something into one of them. */
async function removeEmpty(folder: string, topmost: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch {
    return;
  }
  if (folder !== topmost) await removeEmpty(dirname(folder), topmost);
}

/** Removes a database that has ended, and where it lies where its account could not enter `folder`. */
export async function removeEmbedded(folder: string): Promise<void> {
  const elsewhere = await readFile(join(folder, "moved-to.txt"), "utf8").catch(() => "");
  if (elsewhere.trim() !== "") await rm(elsewhere.trim(), { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
}

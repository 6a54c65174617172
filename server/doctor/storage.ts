// Checks a storage provider: it stores, returns and deletes a small object, and reports its free space.
import type { Diagnosis } from "../../contract/doctor.ts";
import { openService } from "../backups/open-service.ts";
import type { Host } from "../hosts/host.ts";
import { expandHome } from "../inventory/paths.ts";
import type { Inventory } from "../inventory/schema.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import type { Servers } from "../ssh/servers.ts";
import { folderHere, folderThere, type StorageFolder } from "../storage/folder.ts";
import { nothingOfOurs } from "../storage/marker.ts";
import { rehearseStorage } from "../storage/rehearse.ts";
import type { Storage } from "../storage/storage.ts";
import { toError } from "../to-error.ts";
import { failed, ok } from "./finding.ts";
import { checkRoom } from "./machine.ts";

type Provider = Inventory["storage_providers"][number];

type StorageOptions = {
  inventory: Inventory;
  servers: Pick<Servers, "open" | "login">;
  /** The host of this machine. */
  host: Pick<Host, "run" | "account">;
  /** Folder for temporary files. */
  spoolFolder?: string;
  secrets: SecretReader;
  /**
   * Returns the key of the folder where the storage's marker file was last known; null = never, or the database is unavailable.
   */
  markedPathOf(providerId: number): Promise<string | null>;
  signal: AbortSignal;
};

export async function checkStorage(
  provider: Provider,
  options: StorageOptions,
): Promise<Diagnosis> {
  const { signal } = options;
  const name = `Storage ${provider.name}`;
  try {
    const { storage } = await open(provider, options);
    await rehearseStorage(storage, { folder: "quarterdeck-doctor", attempt: null }, signal);
    const worked = `${storage.place} takes, returns and deletes a file.`;
    const freeBytes = await storage.freeBytes();
    if (freeBytes === null) return ok(name, worked);
    const room = checkRoom(name, storage.place, freeBytes);
    return { ...room, message: `${worked} ${room.message}` };
  } catch (error) {
    signal.throwIfAborted();
    return failed(name, toError(error).message, null);
  }
}

type OwnOptions = StorageOptions & {
  /** Keys that were stored there. In a folder without a marker at least one of them has to exist. */
  keys: readonly string[];
  setMarkedPath(providerId: number, path: string): Promise<void>;
};

/**
 * Opens a storage for files other than backups of configurations, possibly the only ones there.
 * @returns also `mark`, which stores the marker file once something was stored in a folder
 * @throws StorageError, ServerAway
 */
export async function openOwn(
  provider: Provider,
  options: OwnOptions,
): Promise<{ storage: Storage; mark(): Promise<void> }> {
  const { storage, folder } = await open(provider, options);
  if (folder === null) return { storage, mark: async () => undefined };
  const { markedPathOf, setMarkedPath, keys } = options;
  const isKnown = async () => (await markedPathOf(provider.id)) === folder.key;
  if (keys.length > 0 && !(await isKnown()) && !(await folder.isMarked())) {
    const sizes = await Promise.all(keys.map((key) => storage.size(key)));
    if (sizes.every((size) => size === null)) throw nothingOfOurs(folder);
  }
  return {
    storage,
    async mark() {
      if (await isKnown()) return;
      await folder.mark();
      await setMarkedPath(provider.id, folder.key);
    },
  };
}

/** Returns the recipients that files are encrypted to; null = not encrypted. */
export const recipientsIn = ({ recipients }: Provider): string | null =>
  recipients?.join(" ") ?? null;

/**
 * @returns also the folder; null for storages that are not local
 * @throws StorageError, ServerAway
 */
async function open(
  provider: Provider,
  { inventory, servers, host: here, spoolFolder, secrets, markedPathOf, signal }: StorageOptions,
): Promise<{ storage: Storage; folder: StorageFolder | null }> {
  if (provider.type !== "local") {
    const storage = await openService(provider, {
      secrets,
      host: here,
      servers,
      ...(spoolFolder !== undefined && { spoolFolder }),
    });
    return { storage, folder: null };
  }
  const root = expandHome(provider.path);
  const server = inventory.servers.find(({ id }) => id === provider.server);
  const host = server === undefined ? null : await servers.open(server.id, { signal });
  const folder =
    server !== undefined && host?.isRemote
      ? folderThere(server.id, { host, server: server.name, root })
      : folderHere(root, here);
  // As for a backup: where the marker was known and has disappeared, the disk is not mounted.
  const isMarked =
    (await markedPathOf(provider.id)) === folder.key ||
    (await folder.isMarked().catch(() => false));
  return { storage: folder.open({ isMarked }), folder };
}

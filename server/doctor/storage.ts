// The storage providers of the inventory: each takes, returns and deletes a small object, and says what room it has.
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
  /** This machine. */
  host: Pick<Host, "run" | "account">;
  /** For what has to lie on disk for a while. */
  spoolFolder?: string;
  secrets: SecretReader;
  /** Where the storage's folder was when it was last known by its marker; null = never, or the database cannot be asked. */
  markedPathOf(providerId: number): Promise<string | null>;
  signal: AbortSignal;
};

export function checkStorages(options: StorageOptions): Promise<Diagnosis[]> {
  const { storage_providers: providers } = options.inventory;
  return Promise.all(providers.map((provider) => checkStorage(provider, options)));
}

async function checkStorage(provider: Provider, options: StorageOptions): Promise<Diagnosis> {
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
  /** What was stored there; of a folder that has no marker yet, at least one of it has to be there. */
  keys: readonly string[];
  setMarkedPath(providerId: number, path: string): Promise<void>;
};

/**
 * Opens it for what is stored there besides the backups of configurations, which may be all.
 * @returns also what makes a folder known by its marker once something was stored there
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

/** Whoever may open what is stored there; null = everybody. */
export const recipientsIn = ({ recipients }: Provider): string | null =>
  recipients?.join(" ") ?? null;

/**
 * @returns also the folder, which other kinds than a local one have none of
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
  // As for a backup: where its marker was and is no more, the disk is away.
  const isMarked =
    (await markedPathOf(provider.id)) === folder.key ||
    (await folder.isMarked().catch(() => false));
  return { storage: folder.open({ isMarked }), folder };
}

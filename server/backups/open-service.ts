// Opens the storages that are not folders of a machine: buckets, rclone remotes and logins over SFTP.
import type { Host } from "../hosts/host.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import type { StorageProviderEntry } from "../inventory/store.ts";
import type { Servers } from "../ssh/servers.ts";
import { createRcloneStorage } from "../storage/rclone.ts";
import { createSftpStorage } from "../storage/sftp.ts";
import { StorageError, type ListedStorage } from "../storage/storage.ts";
import { toError } from "../to-error.ts";

type ServiceEntry = Exclude<StorageProviderEntry, { type: "local" }>;

type OpenOptions = {
  secrets: SecretReader;
  /** This machine, where rclone runs. */
  host: Pick<Host, "run">;
  servers: Pick<Servers, "login">;
  /** Folder for temporary files. */
  spoolFolder?: string;
};

/** @throws StorageError where a secret of the inventory is missing */
export async function openService(
  entry: ServiceEntry,
  { secrets, servers, ...options }: OpenOptions,
): Promise<ListedStorage> {
  const read = (reference: string, what: string) =>
    secrets
      .read(reference, `the ${what} of storage provider ${entry.id} (${entry.name})`)
      .catch((error: unknown) => {
        throw new StorageError(toError(error).message);
      });
  if (entry.type === "sftp") {
    const { ssh, path } = entry;
    /** Returns a secret as text where it is not in a file, because it is from a form. */
    const textOf = async (key: string | undefined) =>
      key === undefined || key === "agent" || secrets.fileOf(key) !== null
        ? undefined
        : read(key, "key");
    const [server, jump] = [await textOf(ssh.key), await textOf(ssh.jump?.key)];
    const keyTexts = {
      ...(server !== undefined && { server }),
      ...(jump !== undefined && { jump }),
    };
    return createSftpStorage({ host: options.host, ...servers.login(ssh), keyTexts, path });
  }
  if (entry.type === "rclone") {
    const { remote, config: reference } = entry;
    if (reference === undefined) return createRcloneStorage({ ...options, remote, config: null });
    const text = await read(reference, "config");
    const path = secrets.fileOf(reference);
    return createRcloneStorage({ ...options, remote, config: path === null ? { text } : { path } });
  }
  // Imported on demand, because the client of S3 takes 20 MB of memory.
  const { createS3Storage } = await import("../storage/s3.ts");
  return createS3Storage({
    bucket: entry.bucket,
    region: entry.region ?? "us-east-1",
    endpoint: entry.endpoint ?? null,
    accessKey: await read(entry.access_key, "access_key"),
    secretKey: await read(entry.secret_key, "secret_key"),
    lock: entry.lock,
  });
}

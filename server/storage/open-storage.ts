// From an entry of the inventory to the storage that it names.
import { expandHome } from "../inventory/paths.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import type { StorageProviderEntry } from "../inventory/store.ts";
import { createLocalStorage } from "./local.ts";
import { StorageError, type Storage } from "./storage.ts";
import { toError } from "../to-error.ts";

/** @throws StorageError when a secret is not where the inventory says */
export async function openStorage(
  entry: StorageProviderEntry,
  secrets: SecretReader,
): Promise<Storage> {
  if (entry.type === "local") return createLocalStorage({ path: expandHome(entry.path) });
  const read = (reference: string, what: string) =>
    secrets
      .read(reference, `the ${what} of storage provider ${entry.id} (${entry.name})`)
      .catch((error: unknown) => {
        throw new StorageError(toError(error).message);
      });
  // A service without S3 does without the 20 MB that its client takes.
  const { createS3Storage } = await import("./s3.ts");
  return createS3Storage({
    bucket: entry.bucket,
    region: entry.region ?? "us-east-1",
    endpoint: entry.endpoint ?? null,
    accessKey: await read(entry.access_key, "access_key"),
    secretKey: await read(entry.secret_key, "secret_key"),
  });
}

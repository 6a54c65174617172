// Opens the storage that a command names, using only the environment or the inventory.
import { dirname, resolve } from "node:path";
import { ConfigError, readConfig, readSecretFiles } from "../config.ts";
import { parseInventory, readText } from "../inventory/file.ts";
import { openService } from "../backups/open-service.ts";
import { createLocalHost } from "../hosts/local.ts";
import { createSecretReader } from "../inventory/secrets.ts";
import { createLocalStorage } from "../storage/local.ts";
import { createRcloneStorage } from "../storage/rclone.ts";
import type { S3Options } from "../storage/s3.ts";
import type { ListedStorage } from "../storage/storage.ts";
import { toError } from "../to-error.ts";
import { sshEnvironment } from "../ssh/environment.ts";
import { targetOf } from "../ssh/servers.ts";
import type { CommandContext } from "./command.ts";
import { hostEnvironment } from "./host-environment.ts";

const bucketForm = /^s3:\/\/([^/]+)\/?(.*)$/;

type OpenedStorage = { storage: ListedStorage; prefix: string };

const remoteForm = /^rclone:\/\/([A-Za-z0-9_][A-Za-z0-9_.+@ -]*:.*)$/;

/**
 * Opens a folder, `s3://bucket/prefix`, `rclone://remote:path`, or the storage provider with an id.
 * @throws ConfigError
 */
export async function openStorage(context: CommandContext): Promise<OpenedStorage> {
  const { argument } = context;
  if (/^\d+$/.test(argument))
    return { storage: await openById(Number(argument), context), prefix: "" };
  const [, remote] = remoteForm.exec(argument) ?? [];
  if (remote !== undefined) return { storage: openRemote(remote, context), prefix: "" };
  const [, bucket, prefix = ""] = bucketForm.exec(argument) ?? [];
  if (bucket === undefined) {
    if (/^[a-z0-9]+:\/\//i.test(argument))
      throw new ConfigError(
        `“${argument}” is neither a folder nor s3://bucket[/prefix] nor rclone://remote:[path].`,
      );
    return { storage: createLocalStorage({ path: resolve(argument) }), prefix: "" };
  }
  const access =
    accessFromEnvironment(bucket, context) ?? (await accessFromInventory(bucket, context));
  const { createS3Storage } = await import("../storage/s3.ts");
  return { storage: createS3Storage(access), prefix };
}

/**
 * Opens a storage provider that is not a folder.
 * @throws ConfigError, InventoryError, StorageError
 */
async function openById(id: number, context: CommandContext): Promise<ListedStorage> {
  const { environment, isRoot } = context;
  const { inventoryFile } = readConfig(readSecretFiles(environment), isRoot);
  const inventory = parseInventory(await readText(inventoryFile), inventoryFile);
  const provider = inventory.storage_providers.find((one) => one.id === id);
  if (provider === undefined)
    throw new ConfigError(`${inventoryFile} has no storage provider ${id}.`);
  if (provider.type === "local")
    throw new ConfigError(
      `Storage provider ${id} is a folder. Run this command on its server, with the path: ${provider.path}`,
    );
  const folder = dirname(inventoryFile);
  const seen = hostEnvironment(context);
  return openService(provider, {
    host: createLocalHost(seen),
    secrets: createSecretReader(environment, folder),
    servers: {
      login: (ssh) => ({
        target: targetOf(ssh, folder),
        environment: sshEnvironment(seen, environment),
      }),
    },
  });
}

/** Uses the config file that rclone itself would use. */
function openRemote(remote: string, context: CommandContext): ListedStorage {
  const path = context.environment["RCLONE_CONFIG"];
  return createRcloneStorage({
    host: createLocalHost(hostEnvironment(context)),
    remote,
    config: path ? { path: resolve(path) } : null,
  });
}

function accessFromEnvironment(bucket: string, { environment }: CommandContext): S3Options | null {
  const {
    AWS_ACCESS_KEY_ID: accessKey,
    AWS_SECRET_ACCESS_KEY: secretKey,
    AWS_ENDPOINT_URL_S3: s3Endpoint,
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: defaultRegion,
  } = environment;
  if (!accessKey || !secretKey) return null;
  const endpointName = s3Endpoint ? "AWS_ENDPOINT_URL_S3" : "AWS_ENDPOINT_URL";
  return {
    bucket,
    accessKey,
    secretKey,
    endpoint: s3Endpoint || endpoint || null,
    region: region || defaultRegion || "us-east-1",
    settings: {
      bucket: "its name",
      accessKey: "AWS_ACCESS_KEY_ID",
      secretKey: "AWS_SECRET_ACCESS_KEY",
      endpoint: endpointName,
      regionOrEndpoint: `AWS_REGION or ${endpointName}`,
    },
  };
}

async function accessFromInventory(
  bucket: string,
  { environment, isRoot }: CommandContext,
): Promise<S3Options> {
  const { inventoryFile } = readConfig(readSecretFiles(environment), isRoot);
  const either = `Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_REGION, AWS_ENDPOINT_URL), or QUARTERDECK_INVENTORY to an inventory with the bucket ${bucket}.`;
  try {
    const inventory = parseInventory(await readText(inventoryFile), inventoryFile);
    const [entry, another] = inventory.storage_providers.flatMap((provider) =>
      provider.type === "s3" && provider.bucket === bucket ? [provider] : [],
    );
    if (entry === undefined) throw new Error(`${inventoryFile} has no storage provider for it.`);
    if (another !== undefined)
      throw new Error(`${inventoryFile} has several storage providers with this name of a bucket.`);
    const secrets = createSecretReader(environment, dirname(inventoryFile));
    const of = `of storage provider ${entry.id} (${entry.name})`;
    return {
      bucket,
      region: entry.region ?? "us-east-1",
      endpoint: entry.endpoint ?? null,
      accessKey: await secrets.read(entry.access_key, `the access_key ${of}`),
      secretKey: await secrets.read(entry.secret_key, `the secret_key ${of}`),
    };
  } catch (error) {
    throw new ConfigError(`No access to bucket ${bucket}: ${toError(error).message} ${either}`, {
      cause: error,
    });
  }
}

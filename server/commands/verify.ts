// `verify`: whether what lies in a storage is what was stored there, without a database and without the service.
import { dirname, resolve } from "node:path";
import { sizeInWords } from "../backups/formatting.ts";
import { verifyStorage, type Verified, type VerifyProgress } from "../backups/verify-storage.ts";
import { ConfigError, readConfig, readSecretFiles } from "../config.ts";
import { parseInventory, readText } from "../inventory/file.ts";
import { createSecretReader } from "../inventory/secrets.ts";
import { createLocalStorage } from "../storage/local.ts";
import type { S3Options } from "../storage/s3.ts";
import { StorageError, type ListedStorage } from "../storage/storage.ts";
import { toError } from "../to-error.ts";
import type { Command, CommandContext } from "./command.ts";

const progressMs = 200;
const bucketForm = /^s3:\/\/([^/]+)\/?(.*)$/;

export const verifyCommand: Command = {
  name: "verify",
  parameter: "<storage>",
  options: ["--json"],
  about: "Checks every stored file of a storage against the manifest beside it.",
  details: `Compares size and SHA-256. <storage> is a folder or s3://bucket[/prefix];
a bucket's access comes from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL, or from the
inventory. --json writes the result as JSON.`,
  async run(context) {
    const { argument, say, showProgress, onEnd } = context;
    const stopping = new AbortController();
    onEnd(() => stopping.abort(new Error("Interrupted.")));
    const { storage, prefix } = await openStorage(context);
    let shownMs = 0;
    const onProgress = (progress: VerifyProgress) => {
      const now = performance.now();
      if (now - shownMs < progressMs) return;
      shownMs = now;
      showProgress(inWords(progress));
    };
    const verified = await verifyStorage(storage, { prefix, signal: stopping.signal, onProgress });
    showProgress("");
    if (context.options.has("--json"))
      say(
        JSON.stringify({ storage: argument, place: storage.place, ...asJson(verified) }, null, 2),
      );
    else for (const line of report(verified)) say(line);
    const { sound, problems } = verified;
    if (problems.length > 0)
      throw new StorageError(
        `${problems.length} of ${sound + problems.length} stored files in ${storage.place} failed the check.`,
      );
    if (sound === 0)
      throw new StorageError(
        `Nothing was checked: there is no stored file with a manifest in ${storage.place}${prefix === "" ? "" : ` below ${prefix}`}.`,
      );
    if (!context.options.has("--json"))
      say(
        `${countOf(sound)} in ${storage.place} checked (${sizeInWords(verified.soundBytes)}), all sound.`,
      );
  },
};

const countOf = (files: number) => `${files} stored ${files === 1 ? "file" : "files"}`;

const inWords = ({ files, ofFiles, bytes, ofBytes }: VerifyProgress) =>
  `${files} of ${ofFiles} files, ${sizeInWords(bytes)} of ${sizeInWords(ofBytes)}`;

/** Snake case, as everything that leaves the program. */
const asJson = ({ sound, soundBytes, problems, withoutManifest, leftovers }: Verified) => ({
  sound,
  sound_bytes: soundBytes,
  problems,
  without_manifest: withoutManifest,
  leftovers,
});

function report({ problems, withoutManifest, leftovers }: Verified): string[] {
  const block = (title: string, keys: readonly string[]) =>
    keys.length === 0 ? [] : [title, ...keys.map((key) => `  ${key}`)];
  return [
    ...problems.map(({ kind, key, reason }) => `${kind}: ${key}\n  ${reason}`),
    ...block(
      "Not checked, no manifest (of an earlier version, or their run isn't over):",
      withoutManifest,
    ),
    ...block("Left by runs that were cut off, unless they are running now:", leftovers),
  ];
}

type Opened = { storage: ListedStorage; prefix: string };

/** @throws ConfigError */
async function openStorage(context: CommandContext): Promise<Opened> {
  const { argument } = context;
  const [, bucket, prefix = ""] = bucketForm.exec(argument) ?? [];
  if (bucket === undefined) {
    if (/^[a-z0-9]+:\/\//i.test(argument))
      throw new ConfigError(`“${argument}” is neither a folder nor s3://bucket[/prefix].`);
    return { storage: createLocalStorage({ path: resolve(argument) }), prefix: "" };
  }
  const access =
    accessFromEnvironment(bucket, context) ?? (await accessFromInventory(bucket, context));
  const { createS3Storage } = await import("../storage/s3.ts");
  return { storage: createS3Storage(access), prefix };
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
  return {
    bucket,
    accessKey,
    secretKey,
    endpoint: s3Endpoint || endpoint || null,
    region: region || defaultRegion || "us-east-1",
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

// `backup-self`: stores the whole installation as one file, whether the service runs or not.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { countOf } from "../../contract/count-text.ts";
import { sizeInWords } from "../backups/formatting.ts";
import { ConfigError, readConfig, readSecretFiles, type Config } from "../config.ts";
import { openOwn, recipientsIn } from "../doctor/storage.ts";
import { createLocalHost } from "../hosts/local.ts";
import { parseInventory, readText } from "../inventory/file.ts";
import { createSecretReader } from "../inventory/secrets.ts";
import { createInventoryStore } from "../inventory/store.ts";
import { storeArchive, type StoredArchive } from "../self-backup/store-archive.ts";
import { sshEnvironment } from "../ssh/environment.ts";
import { createServers } from "../ssh/servers.ts";
import type { Storage } from "../storage/storage.ts";
import { openUnchanged } from "../store/database.ts";
import type { ConnectionOptions } from "../store/storable.ts";
import type { Command, CommandContext } from "./command.ts";
import { hostEnvironment } from "./host-environment.ts";
import { openCommandDatabase } from "./open-database.ts";
import { openStorage } from "./open-storage.ts";

const { version }: { version: string } = createRequire(import.meta.url)("../../package.json");

export const backupSelfCommand: Command = {
  name: "backup-self",
  parameter: "<storage>",
  about: "Backs up Quarterdeck itself: database, inventory, and secrets if encrypted.",
  details: `Stores one file below quarterdeck/ in the storage, with a manifest beside it that verify checks; the service may go on.
<storage> is the id of a storage provider of the inventory, a folder, s3://bucket[/prefix] or rclone://remote:[path], as for verify.
With QUARTERDECK_SELF_BACKUP_RECIPIENT, a public key of age (age1…), or several, the file is encrypted and has the secrets that the
inventory names by file:. Without, it has no secrets, and is encrypted only for a storage provider with recipients. restore-self restores it on an empty machine.`,
  failure: "nothing was stored",
  async run(context) {
    const { environment, isRoot, say, showProgress, onEnd } = context;
    const config = readConfig(readSecretFiles(environment), isRoot);
    if (config.upstream !== null)
      throw new ConfigError(
        `QUARTERDECK_UPSTREAM is set, so the data belongs to ${config.upstream}. Run this command there.`,
      );
    const stopping = new AbortController();
    onEnd(() => stopping.abort(new Error("Interrupted.")));
    const connection = await openCommandDatabase(context, config);
    const byId = /^\d+$/.test(context.argument)
      ? await openById(context, config, connection, stopping.signal)
      : null;
    const { storage, prefix } = byId ?? (await openStorage(context));
    const made = await storeArchive({
      from: {
        connection,
        embeddedIn: config.databaseUrl === null ? join(config.dataFolder, "postgres") : null,
      },
      storage,
      prefix: prefix === "" ? "" : `${prefix.replace(/\/+$/, "")}/`,
      inventoryFile: config.inventoryFile,
      recipients: config.selfBackupRecipients ?? byId?.recipients ?? null,
      withSecrets: config.selfBackupRecipients !== null,
      now: new Date(),
      version,
      signal: stopping.signal,
      onBytes: (bytes) => showProgress(sizeInWords(bytes)),
    });
    await byId?.mark();
    showProgress("");
    for (const line of report(made, storage.place)) say(line);
  },
};

function report({ key, stored, archive, warnings }: StoredArchive, place: string): string[] {
  const rows = archive.tables.reduce((sum, table) => sum + table.rows, 0);
  const files = archive.secret_files.length;
  return [
    `Stored ${key} in ${place}: ${sizeInWords(stored.size)}.`,
    `In it: the database (${archive.tables.length} tables, ${countOf(rows, "row")})${archive.has_inventory ? ", the inventory" : ""}${
      archive.has_secrets
        ? `, ${countOf(files, "file")} of secrets, the signing secrets of webhooks. Encrypted.`
        : stored.encryption === null
          ? ". Not encrypted."
          : ". Encrypted to the recipients of the storage provider."
    }`,
    archive.has_secrets
      ? "Not in it: secrets in environment variables, settings of the service."
      : "Not in it: files of secrets, signing secrets of webhooks, secrets in environment variables, settings of the service. To have files and signing secrets in it, set QUARTERDECK_SELF_BACKUP_RECIPIENT to a public key of age.",
    ...(stored.encryption === null ? [] : ["Nobody can restore it without the private key."]),
    ...warnings,
  ];
}

/** @throws ConfigError, InventoryError, StorageError */
async function openById(
  { argument, environment, runtime, onEnd }: CommandContext,
  { inventoryFile }: Config,
  connection: ConnectionOptions,
  signal: AbortSignal,
): Promise<{
  storage: Storage;
  prefix: string;
  /** Recipients of the storage provider; null = none. */
  recipients: string | null;
  mark(): Promise<void>;
}> {
  const inventory = parseInventory(await readText(inventoryFile), inventoryFile);
  const provider = inventory.storage_providers.find(({ id }) => id === Number(argument));
  if (provider === undefined)
    throw new ConfigError(`${inventoryFile} has no storage provider ${argument}.`);
  const seen = hostEnvironment({ environment, runtime });
  const host = createLocalHost(seen);
  const servers = createServers({
    local: host,
    environment: sshEnvironment(seen, environment),
    inventoryFolder: dirname(inventoryFile),
  });
  onEnd(() => servers.close());
  await servers.follow(inventory.servers);
  const { db, close } = await openUnchanged(connection);
  onEnd(close);
  const { markedPathOf, setMarkedPath } = createInventoryStore(db);
  const opened = await openOwn(provider, {
    inventory,
    servers,
    host,
    secrets: createSecretReader(environment, dirname(inventoryFile)),
    markedPathOf,
    setMarkedPath,
    // This command does not keep the keys of the files that it has stored.
    keys: [],
    signal,
  });
  return { ...opened, prefix: "", recipients: recipientsIn(provider) };
}

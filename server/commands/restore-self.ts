// `restore-self`: restores an installation from a file of `backup-self`, on a machine that has none; completely or not at all.
import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  ConfigError,
  readConfig,
  readSecretFile,
  readSecretFiles,
  type Config,
} from "../config.ts";
import { countOf } from "../../contract/count-text.ts";
import { lockDataFolder } from "../data-lock.ts";
import { startLine } from "../program-name.ts";
import { loadArchive, type Loaded } from "../self-backup/load-archive.ts";
import { openQuestions } from "../self-backup/open-questions.ts";
import { findNewest, isStoredName, openStored } from "../self-backup/open-stored.ts";
import { openRestoreFolder } from "../self-backup/restore-folder.ts";
import { pathOfReference } from "../inventory/paths.ts";
import { createLocalStorage } from "../storage/local.ts";
import type { ListedStorage } from "../storage/storage.ts";
import { openDatabase } from "../store/database.ts";
import { startEmbeddedPostgres } from "../store/embedded/embedded-postgres.ts";
import { openSide, type Side, type SideOptions } from "../store/move/side.ts";
import { openOwnServer } from "../store/own-server.ts";
import type { Command, CommandContext } from "./command.ts";
import { openStorage } from "./open-storage.ts";

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const restoredKey = "restored";

export const restoreSelfCommand: Command = {
  name: "restore-self",
  parameter: "<file or storage>",
  about: "Restores Quarterdeck itself on a machine that has none.",
  details: `Restores the file that backup-self stored, or the newest one of a storage: a folder, s3://bucket[/prefix] or
rclone://remote:[path] as for verify; a file in a bucket is s3://bucket/key. The data folder (QUARTERDECK_DATA) and the database (DATABASE_URL, or the embedded one) must be
empty. For an encrypted file set QUARTERDECK_IDENTITY=file:/path to a file with the private key of age.
Either all of it is restored, or nothing. Never start it while the old installation still runs.`,
  failure: "the installation is not restored; run the same command again once the cause is gone",
  async run(context) {
    const { environment, isRoot, onEnd } = context;
    const config = readConfig(readSecretFiles(environment), isRoot);
    if (config.upstream !== null)
      throw new ConfigError("QUARTERDECK_UPSTREAM is set, so nothing is stored here. Unset it.");
    const stopping = new AbortController();
    const { storage, key } = await findFile(context, stopping.signal);
    const identity = environment["QUARTERDECK_IDENTITY"]?.trim();
    const identities = identity ? readSecretFile("QUARTERDECK_IDENTITY", identity) : null;
    const { content, isKnown } = await openStored({
      storage,
      key,
      identities,
      signal: stopping.signal,
    });
    const lock = lockDataFolder(config.dataFolder);
    onEnd(() => lock.release());
    const folder = await openRestoreFolder(config.dataFolder, config.inventoryFile);
    let isDecided = false;
    let restoring: Promise<unknown> = Promise.resolve();
    // Registered before the database's cleanup, so that it runs after the database has ended.
    onEnd(async () => {
      await restoring.catch(() => undefined);
      if (!isDecided) await folder.undo(config.databaseUrl === null);
    });
    const stop = () => stopping.abort(new Error("Interrupted."));
    onEnd(stop);
    const opening = openTarget(context, config, stopping.signal);
    restoring = opening;
    const target = await opening;
    const side = await openSide({ ...target, verb: "restore" });
    onEnd(() => side.close());
    onEnd(stop);

    const work = async (): Promise<Loaded | null> => {
      let restored: Loaded | null = null;
      if (folder.isRerun && (await readRestored(side)) === folder.id) {
        isDecided = true;
      } else {
        if (folder.isRerun) await folder.startAnew();
        const loaded = await loadArchive(content, side);
        const files = filesOf(loaded, config.inventoryFile);
        stopping.signal.throwIfAborted();
        await folder.place(files);
        await side.query("insert into settings (key, value) values ($1, $2)", [
          restoredKey,
          folder.id,
        ]);
        stopping.signal.throwIfAborted();
        // The commit may succeed even if its response is lost; the next run finds out.
        isDecided = true;
        await side.query("commit");
        restored = loaded;
      }
      await side.close();
      // Migrates a database of an older version.
      const { close } = await openDatabase(target.connection, () => undefined);
      await close();
      await folder.finish();
      return restored;
    };
    const restoration = work();
    restoring = restoration;
    // Printed last, when everything is done, in case the reader of the output has gone.
    const loaded = await restoration;
    if (loaded === null) context.say("An earlier run has restored everything.");
    else report(context, config, { loaded, what: `${key} in ${storage.place}`, isKnown });
    context.say(
      `Start Quarterdeck with: ${startLine}. Start it only if the old installation runs nowhere any more: workers and backups would be run twice.`,
    );
  },
};

type Found = { storage: ListedStorage; key: string };

/** @throws ConfigError, SelfBackupError, StorageError */
async function findFile(context: CommandContext, signal: AbortSignal): Promise<Found> {
  const { argument } = context;
  if (!argument.includes("://")) {
    const path = resolve(argument);
    if (!existsSync(path)) throw new ConfigError(`There is nothing at ${path}.`);
    if (statSync(path).isFile()) {
      if (!isStoredName(path))
        throw new ConfigError(
          `${path} is not named like a backup of Quarterdeck itself, which ends in .tar.zst or .tar.zst.age.`,
        );
      return {
        storage: createLocalStorage({ path: dirname(path) }),
        key: path.slice(path.lastIndexOf("/") + 1),
      };
    }
  }
  const { storage, prefix } = await openStorage(context);
  if (isStoredName(prefix)) return { storage, key: prefix };
  const folder = prefix === "" ? "" : `${prefix.replace(/\/+$/, "")}/`;
  return { storage, key: await findNewest(storage, folder, signal) };
}

async function openTarget(
  { onEnd, say }: CommandContext,
  { databaseUrl, dataFolder }: Config,
  signal: AbortSignal,
): Promise<SideOptions> {
  if (databaseUrl !== null)
    return { connection: await openOwnServer(databaseUrl), embeddedIn: null };
  const folder = join(dataFolder, "postgres");
  const postgres = await startEmbeddedPostgres({ folder, log: { ...silent, error: say } });
  // Interrupted meanwhile: the database's folder is removed next.
  if (signal.aborted) await postgres.stop();
  signal.throwIfAborted();
  onEnd(() => postgres.stop());
  return { connection: postgres.connection, embeddedIn: folder };
}

/** Returns which restore filled the database; null = none. */
async function readRestored({ query }: Side): Promise<string | null> {
  const [table] = await query<{ is_there: boolean }>(
    "select to_regclass('public.settings') is not null as is_there",
  );
  if (table?.is_there !== true) return null;
  const [row] = await query<{ value: string }>("select value from public.settings where key = $1", [
    restoredKey,
  ]);
  return row?.value ?? null;
}

/** Returns the files by their paths on this machine. */
function filesOf({ inventory, secrets }: Loaded, inventoryFile: string): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const [reference, content] of secrets)
    files.set(pathOfReference(dirname(inventoryFile), reference), content);
  if (inventory !== null) files.set(inventoryFile, inventory);
  return files;
}

function report(
  { say, environment }: CommandContext,
  { inventoryFile }: Config,
  { loaded, what, isKnown }: { loaded: Loaded; what: string; isKnown: boolean },
): void {
  const { manifest, secrets } = loaded;
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  say(`Restored ${what}, of ${manifest.made_at} by Quarterdeck ${manifest.quarterdeck}.`);
  if (!isKnown)
    say("There is no manifest beside the file, so only its own checksums were checked.");
  say(
    `Database: ${manifest.tables.length} tables, ${countOf(rows, "row")}. Inventory: ${loaded.inventory === null ? "none" : inventoryFile}. Files of secrets: ${secrets.size}.`,
  );
  say(
    "No worker runs yet: the next start of the service starts those that should. Backups that ran when this one was made count as failed.",
  );
  say("\nWhat the backup could not know:");
  for (const question of openQuestions({ loaded, inventoryFile, environment }))
    say(`- ${question}`);
  say("");
}

// Opens the database of an installation for a command, whether its service runs or not.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../config.ts";
import { DataFolderInUse, lockDataFolder } from "../data-lock.ts";
import { connectToRunning, startEmbeddedPostgres } from "../store/embedded/embedded-postgres.ts";
import { openOwnServer } from "../store/own-server.ts";
import type { ConnectionOptions } from "../store/storable.ts";
import type { CommandContext } from "./command.ts";

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Opens the database of `databaseUrl` or, without one, the embedded database: that of the running service, or one that is started
 * until the command ends.
 * @throws ConfigError, DatabaseUnusable, EmbeddedPostgresError
 */
export async function openCommandDatabase(
  { onEnd }: Pick<CommandContext, "onEnd">,
  { dataFolder, databaseUrl }: { dataFolder: string; databaseUrl: string | null },
): Promise<ConnectionOptions> {
  if (databaseUrl !== null) return openOwnServer(databaseUrl);
  const folder = join(dataFolder, "postgres");
  if (!existsSync(folder))
    throw new ConfigError(
      `There is no embedded database in ${dataFolder}. Set QUARTERDECK_DATA to Quarterdeck's data folder, or DATABASE_URL as for the service.`,
    );
  let lock: ReturnType<typeof lockDataFolder>;
  try {
    lock = lockDataFolder(dataFolder);
  } catch (error) {
    if (error instanceof DataFolderInUse) return connectToRunning(folder);
    throw error;
  }
  onEnd(() => lock.release());
  const postgres = await startEmbeddedPostgres({ folder, log: silent });
  onEnd(() => postgres.stop());
  return postgres.connection;
}

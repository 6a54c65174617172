// A service that locks a data folder and runs its database, for tests that kill it: `service.ts <data folder> <umask>`.
import { join } from "node:path";
import { lockDataFolder } from "../../../data-lock.ts";
import { startInstance } from "../instance.ts";

const [, , dataFolder = "", umask = "022"] = process.argv;
process.umask(umask);
const say = (text: string) => void process.stderr.write(`${text}\n`);

try {
  const lock = lockDataFolder(dataFolder);
  const log = { info: say, warn: say, error: say };
  const database = await startInstance({ folder: join(dataFolder, "postgres"), log });
  process.once("SIGTERM", () => {
    void database.stop().then(() => lock.release());
  });
  const { connection } = database;
  process.stdout.write(`${JSON.stringify({ connection, databasePid: database.pid() })}\n`);
} catch (error) {
  say(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  process.exitCode = 1;
}

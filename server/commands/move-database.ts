// `move-database` and `cancel-move`: move the database between the embedded PostgreSQL and a server, and undo that.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { countText } from "../../contract/count-text.ts";
import { shortDuration, sizeInWords } from "../backups/formatting.ts";
import { ConfigError, readConfig, readSecretFile, readSecretFiles } from "../config.ts";
import { lockDataFolder } from "../data-lock.ts";
import { startEmbeddedPostgres } from "../store/embedded/embedded-postgres.ts";
import { startLine } from "../program-name.ts";
import { cancelMove, moveDatabase, type Progress } from "../store/move/move.ts";
import { openOwnServer } from "../store/own-server.ts";
import type { SideOptions } from "../store/move/side.ts";
import type { Command, CommandContext } from "./command.ts";

const progressMs = 10_000;

export const moveDatabaseCommand: Command = {
  name: "move-database",
  parameter: "<target>",
  about: "Moves everything to another database.",
  details: `Moves everything from the database that DATABASE_URL names, or the embedded one without it, to another one.
The target is “embedded”, or the URL of a PostgreSQL 15 or newer: file:/path of a file with it, env:NAME of a variable
with it, - to read it from the standard input, or the URL itself, which others on this machine can then see.`,
  failure: "nothing was moved",
  async run(context) {
    const { argument, say } = context;
    const { dataFolder, databaseUrl } = readSettings(context);
    const targetUrl = argument === "embedded" ? null : await readTarget(context);
    if (databaseUrl === null && targetUrl === null)
      throw new ConfigError(
        "Quarterdeck uses the embedded database already. To move back to it, set DATABASE_URL to the database to move from.",
      );
    holdFolder(context, dataFolder, databaseUrl);
    const source = await openDatabaseOf(context, dataFolder, databaseUrl);
    const target = await openDatabaseOf(context, dataFolder, targetUrl, "<target>");
    const startMs = performance.now();
    const outcome = await moveDatabase(source, target, createProgress(say));
    if (outcome === "finished") say("An earlier run has moved everything.");
    else say(`Moved in ${shortDuration(performance.now() - startMs)}.`);
    say(
      targetUrl === null
        ? "Start Quarterdeck without DATABASE_URL from now on."
        : `Start Quarterdeck with DATABASE_URL set to the new database from now on, e.g. DATABASE_URL=file:/path ${startLine}.`,
    );
    say(
      "The old database has kept its data, and Quarterdeck refuses to start on it. Delete it once you no longer need it.",
    );
  },
};

export const cancelMoveCommand: Command = {
  name: "cancel-move",
  about: "Lets Quarterdeck start again on a database that was moved away.",
  details: "The database is the one that DATABASE_URL names, or the embedded one without it.",
  failure: "there was nothing to cancel",
  async run(context) {
    const { dataFolder, databaseUrl } = readSettings(context);
    holdFolder(context, dataFolder, databaseUrl);
    const { place, other } = await cancelMove(
      await openDatabaseOf(context, dataFolder, databaseUrl),
    );
    if (other === null) throw new ConfigError(`Nothing to cancel: ${place} was not moved away.`);
    context.say(
      `Quarterdeck can start on ${place} again. What has changed in ${other} since the move is missing here. Never start Quarterdeck on that one again: workers and backups would be run twice.`,
    );
  },
};

const readSettings = ({ environment, isRoot }: CommandContext) =>
  readConfig(readSecretFiles(environment), isRoot);

/** @throws ConfigError */
async function readTarget({ argument, environment, readInput }: CommandContext): Promise<string> {
  const [, variable] = /^env:(.+)$/.exec(argument) ?? [];
  const given =
    argument === "-"
      ? await readInput()
      : variable === undefined
        ? argument
        : (environment[variable] ?? "");
  // A variable may also refer to a file.
  const url = readSecretFile("<target>", given).trim();
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new ConfigError(
      `The target must be “embedded” or a URL such as postgresql://user@host/database, given as file:/path, env:NAME or - for the standard input.${variable !== undefined && given === "" ? ` ${variable} is not set.` : ""}`,
    );
  return url;
}

/** @param sourceUrl null where the embedded database is the source, and has to exist */
function holdFolder({ onEnd }: CommandContext, dataFolder: string, sourceUrl: string | null): void {
  if (sourceUrl === null && !existsSync(join(dataFolder, "postgres")))
    throw new ConfigError(
      `There is no embedded database in ${dataFolder}. Set QUARTERDECK_DATA to Quarterdeck's data folder.`,
    );
  const lock = lockDataFolder(dataFolder);
  onEnd(() => lock.release());
}

/** Returns options for the database of the URL or, without one, starts the embedded database. */
async function openDatabaseOf(
  { say, onEnd }: CommandContext,
  dataFolder: string,
  url: string | null,
  setting?: string,
): Promise<SideOptions> {
  if (url !== null) return { connection: await openOwnServer(url, setting), embeddedIn: null };
  const folder = join(dataFolder, "postgres");
  const postgres = await startEmbeddedPostgres({
    folder,
    log: { info: () => undefined, warn: say, error: say },
    onDiagnosis: (reason) => reason !== null && say(reason),
  });
  onEnd(() => postgres.stop());
  return { connection: postgres.connection, embeddedIn: folder };
}

/** Prints one line per table, on a terminal and in a log alike. */
function createProgress(say: (line: string) => void): Progress {
  let saidMs = performance.now();
  const line = (...parts: string[]) => {
    saidMs = performance.now();
    say(parts.join(""));
  };
  return {
    onStart: (source, target) => line(`Moving from ${source} to ${target}.`),
    onBytes(table, bytes) {
      if (performance.now() - saidMs >= progressMs)
        line(`  ${table}: ${sizeInWords(bytes)} so far`);
    },
    onTable: (table, rows, bytes, ms) =>
      line(
        `  ${table.padEnd(32)}`,
        `${countText(rows)} ${rows === 1 ? "row " : "rows"}`.padStart(18),
        sizeInWords(bytes).padStart(14),
        shortDuration(ms).padStart(10),
      ),
    onCheck: (tables) => line(`Adding keys and comparing ${tables} tables: rows and checksums.`),
  };
}

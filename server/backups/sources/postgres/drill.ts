// Drills a restore into a scratch database, beside the real one or on another server, which first gets the same tables without
// rows. Compares the restored rows with the manifest.
import { ownName, readTarget, withClient, type Target } from "./connection.ts";
import { compareCounts, countRows, listTables, tellCounts } from "./count.ts";
import { createDatabase, dropDatabase, dropLimitMs, withServer } from "./databases.ts";
import type { Host } from "../../../hosts/host.ts";
import { readProperties } from "./properties.ts";
import { openBackup, restoreArchive } from "./restore.ts";
import { compareChecksums } from "../tables.ts";
import { SourceError, type Attempt, type Drill, type Source } from "../source.ts";
import { toError } from "../../../to-error.ts";

export const drillDatabaseOf = (target: Pick<Target, "installation">, id: number): string =>
  ownName(target, ["drill", id], "_");

const toldDifferences = 5;

/**
 * Creates a drill on a server that may lack the database and its roles.
 * @param options `name`: the server's name, for people; `url`: as the host reaches the server
 */
export function createPostgresDrill({ host, name, url, installation }: DrillServer): Drill {
  const target: Target = { ...readTarget(name, url), machine: host, installation };
  return {
    async drill(...drilled) {
      const found = await drillArchive(target, drilled, { isElsewhere: true });
      return `${found} Owners and privileges were left out: their roles are those of its own server.`;
    },
    async settle({ id, signal }) {
      const session = { applicationName: "quarterdeck", signal };
      await withServer(target, session, (client) =>
        dropDatabase(client, drillDatabaseOf(target, id)),
      );
    },
  };
}

type DrillServer = { host: Host; name: string; url: string; installation?: string | undefined };

/** @param drilled the arguments of `Source.drill` */
export async function drillArchive(
  target: Target,
  [from, manifest, attempt]: Parameters<Source["drill"]>,
  { isElsewhere = false, isWithoutRoles = false } = {},
): Promise<string> {
  const { machine: host } = target;
  const applicationName = ownName(target, ["drill", attempt.id]);
  const session = { applicationName, signal: attempt.signal };
  const scratch = { ...target, database: drillDatabaseOf(target, attempt.id) };
  let isMade = false;
  try {
    if (manifest !== null && manifest.kind !== "database")
      throw new SourceError("The backup says that it holds a folder, not a database.");
    const backup = await openBackup({ host, isPacked: false }, from, attempt.signal);
    const { clauses, statements } = await readProperties(
      backup.tools,
      backup.archive,
      scratch.database,
      attempt.signal,
    );
    await withServer(target, session, async (client) => {
      await dropDatabase(client, scratch.database);
      // Set before, because an abort may come between the server's work and its response.
      isMade = true;
      await createDatabase(client, target, scratch.database, {
        why: "a drill restores into a database of its own",
        clauses,
        scratch: isElsewhere ? "elsewhere" : "beside",
        say: attempt.say,
      });
    });
    await restoreArchive(host, scratch, applicationName, backup, attempt, {
      isRehearsal: true,
      // Other settings of the database do not affect its content.
      properties: statements.filter((statement) =>
        /^ALTER DATABASE .* SET search_path /.test(statement),
      ),
      isWithoutRoles: isElsewhere || isWithoutRoles,
    });
    const found = await withClient(scratch, session, async (client) =>
      countRows(client, await listTables(client)),
    );
    const counted = tellCounts(found.tables);
    if (manifest === null)
      return `${counted} were restored; there was nothing to hold them against.`;
    const differences = compareCounts(manifest.tables, found.tables);
    if (differences.length > 0)
      throw new SourceError(
        `The restored data differs: ${differences.slice(0, toldDifferences).join("; ")}${differences.length > toldDifferences ? `; and ${differences.length - toldDifferences} more` : ""}.`,
      );
    if (found.checksums === undefined)
      return `${counted} restored with the same row counts; the server is too old to make checksums of its rows.`;
    return `${counted} restored ${compareChecksums(manifest.checksums, found.checksums)}`;
  } finally {
    from.destroy();
    if (isMade) await throwAway(target, scratch.database, attempt);
  }
}

async function throwAway(target: Target, database: string, { id, say }: Attempt): Promise<void> {
  // Not the attempt's own signal, because the database has to be dropped after an abort, too.
  const session = {
    applicationName: ownName(target, ["drill", id]),
    signal: AbortSignal.timeout(dropLimitMs),
  };
  try {
    await withServer(target, session, (client) => dropDatabase(client, database));
  } catch (error) {
    say(`The scratch database ${database} could not be dropped: ${toError(error).message}`);
  }
}

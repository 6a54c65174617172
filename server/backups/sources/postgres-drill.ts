// A restore into a scratch database beside the real one, to see that it would work.
import type { Readable } from "node:stream";
import type { Host } from "../../hosts/host.ts";
import { withClient, type Target } from "./postgres-connection.ts";
import { compareCounts, countRows, listTables, tellCounts } from "./postgres-count.ts";
import { createDatabase, dropDatabase, withServer } from "./postgres-databases.ts";
import { restoreArchive } from "./postgres-restore.ts";
import { SourceError, type Attempt, type Manifest } from "./source.ts";

export const drillDatabaseOf = (id: number): string => `quarterdeck_drill_${id}`;

const toldDifferences = 5;
const dropLimitMs = 30_000;

export async function drillArchive(
  host: Host,
  target: Target,
  from: Readable,
  manifest: Manifest | null,
  attempt: Attempt,
): Promise<string> {
  const applicationName = `quarterdeck drill ${attempt.id}`;
  const session = { applicationName, signal: attempt.signal };
  const scratch = { ...target, database: drillDatabaseOf(attempt.id) };
  let isMade = false;
  try {
    if (manifest !== null && manifest.kind !== "database")
      throw new SourceError("The backup says that it holds a folder, not a database.");
    await withServer(target, session, async (client) => {
      await dropDatabase(client, scratch.database);
      // Set before: an abort may come between the server's work and its answer.
      isMade = true;
      await createDatabase(
        client,
        target,
        scratch.database,
        "a drill restores into a database of its own",
      );
    });
    await restoreArchive(host, scratch, applicationName, from, attempt);
    const counts = await withClient(scratch, session, async (client) =>
      countRows(client, await listTables(client)),
    );
    if (manifest === null)
      return `${tellCounts(counts)} were restored; there was nothing to hold them against.`;
    const differences = compareCounts(manifest.tables, counts);
    if (differences.length > 0)
      throw new SourceError(
        `What came back differs: ${differences.slice(0, toldDifferences).join("; ")}${differences.length > toldDifferences ? `; and ${differences.length - toldDifferences} more` : ""}.`,
      );
    return `${tellCounts(counts)} came back exactly.`;
  } finally {
    from.destroy();
    if (isMade) await throwAway(target, scratch.database, attempt);
  }
}

async function throwAway(target: Target, database: string, { id, say }: Attempt): Promise<void> {
  // Not the attempt's own signal: after an abort there is something to drop all the same.
  const session = {
    applicationName: `quarterdeck drill ${id}`,
    signal: AbortSignal.timeout(dropLimitMs),
  };
  try {
    await withServer(target, session, (client) => dropDatabase(client, database));
  } catch (error) {
    say(`The scratch database ${database} could not be dropped: ${(error as Error).message}`);
  }
}

// Drills of a backup of a whole server: one database after the other, each as a backup of it alone would be.
import { text } from "node:stream/consumers";
import { drillArchive } from "../postgres/drill.ts";
import type { Target } from "../postgres/connection.ts";
import { SourceError, type Drill, type Source } from "../source.ts";
import { databaseOf, globalsPath, manifestIn } from "./names.ts";
import { refusePartOfGlobals } from "./roles.ts";
import { readFiles } from "./tar.ts";

type DrillArguments = Parameters<Source["drill"]>;

/** @param drillOne drills the archive of one database */
async function drillEach(
  [from, manifest, attempt]: DrillArguments,
  drillOne: (database: string, drilled: DrillArguments) => Promise<string>,
): Promise<string> {
  try {
    if (manifest !== null && manifest.kind !== "database")
      throw new SourceError("The backup says that it holds a folder, not databases.");
    const found: string[] = [];
    let hasGlobals = false;
    for await (const { path, content } of readFiles(from)) {
      const database = databaseOf(path);
      if (path === globalsPath) {
        refusePartOfGlobals(await text(content));
        hasGlobals = true;
      } else if (database === null)
        throw new SourceError(`The backup holds ${path}, which is no database.`);
      else {
        found.push(database);
        try {
          const told = await drillOne(database, [content, manifestIn(database, manifest), attempt]);
          attempt.say(`${database}: ${told}`);
        } catch (error) {
          throw error instanceof SourceError
            ? new SourceError(`Database ${database}: ${error.message}`, { cause: error })
            : error;
        }
      }
    }
    const missing = manifest?.databases?.filter((name) => !found.includes(name)) ?? [];
    if (missing.length > 0 || !hasGlobals)
      throw new SourceError(
        `The backup lacks ${hasGlobals ? `the database ${missing.join(", ")}` : globalsPath}.`,
      );
    return `${found.length} ${found.length === 1 ? "database" : "databases"} restored, one after the other. Roles were not: those of the server were used.`;
  } finally {
    from.destroy();
  }
}

/** Beside the databases themselves. */
export const drillServer = (target: Target, drilled: DrillArguments): Promise<string> =>
  drillEach(drilled, (database, one) => drillArchive({ ...target, database }, one));

/** @param drill of single databases, on a server that need not have them */
export const createServerDrill = (drill: Drill): Drill => ({
  ...drill,
  drill: (...drilled) => drillEach(drilled, (_, one) => drill.drill(...one)),
});

// Drills a backup of a whole server: one database after the other, each like a backup of it alone.
import { text } from "node:stream/consumers";
import { countOf } from "../../../../contract/count-text.ts";
import { SourceError, type Drill, type Source } from "../source.ts";
import { readMembers } from "./members.ts";
import { manifestIn } from "./names.ts";

/** Files of an archive besides the databases. */
export type Beside = {
  /** By path: checks that the content is complete. @throws SourceError */
  files: Readonly<Record<string, (content: string) => void>>;
  /** A sentence for the output of drills about what is not tested. */
  untried: string;
};

type DrillArguments = Parameters<Source["drill"]>;

/** @param drillOne drills the archive of one database */
export async function drillEach(
  { files, untried }: Beside,
  [from, manifest, attempt]: DrillArguments,
  drillOne: (database: string, drilled: DrillArguments) => Promise<string>,
): Promise<string> {
  try {
    if (manifest !== null && manifest.kind !== "database")
      throw new SourceError("The backup says that it holds a folder, not databases.");
    const found: string[] = [];
    const awaited = new Set(Object.keys(files));
    for await (const { path, database, content } of readMembers(from)) {
      const refusePart = files[path];
      if (refusePart !== undefined) {
        refusePart(await text(content));
        awaited.delete(path);
      } else if (database === null)
        throw new SourceError(`The backup contains ${path}, which is not a database.`);
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
    const [part] = awaited;
    if (missing.length > 0 || part !== undefined)
      throw new SourceError(`The backup lacks ${part ?? `the database ${missing.join(", ")}`}.`);
    return `${countOf(found.length, "database")} restored, one after the other. ${untried}`;
  } finally {
    from.destroy();
  }
}

/** @param drill of single databases, on a server that may lack them */
export const createServerDrill = (beside: Beside, drill: Drill): Drill => ({
  ...drill,
  drill: (...drilled) => drillEach(beside, drilled, (_, one) => drill.drill(...one)),
});

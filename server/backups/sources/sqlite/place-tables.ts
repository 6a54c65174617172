// Restores single tables of a checked file into a live SQLite database, so that the state after a kill can be determined.
import { readFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { toError } from "../../../to-error.ts";
import { writeNote, type Place, type PlaceState } from "./place.ts";
import { factsQuery, kept, readFacts, type Facts } from "./tables-facts.ts";
import { sameQuery, tablesScript, wordsOf } from "./tables-script.ts";

type Tables = Place & { tables: readonly string[] };

/** @param work its errors are reported as the message of the condition that failed */
function withBoth<Result>(
  { from, to }: Pick<Place, "from" | "to">,
  busyMs: number,
  work: (database: DatabaseSync, facts: Facts) => Result,
): Result {
  const database = new DatabaseSync(to, {
    timeout: busyMs,
    enableForeignKeyConstraints: false,
    // Statements of an application are run again as it wrote them.
    enableDoubleQuotedStringLiterals: true,
  });
  try {
    database.prepare(`attach ? as ${kept}`).run(from);
    const lines = database.prepare(factsQuery).all();
    return work(database, readFacts(lines.map(({ line }) => String(line))));
  } catch (error) {
    const failure = toError(error);
    throw Object.assign(failure, { message: wordsOf(failure.message) });
  } finally {
    // Rolls back a transaction that failed.
    database.close();
  }
}

export const placeTables = (place: Tables, busyMs: number): void =>
  withBoth(place, busyMs, (database, facts) => {
    const script = tablesScript(facts, place.tables);
    // The script changes nothing where it finds another version.
    writeNote(place.note, String(facts.version));
    database.exec(script);
  });

export async function tellTables(place: Tables, busyMs: number): Promise<PlaceState> {
  const noted = await readFile(place.note, "utf8");
  return withBoth(place, busyMs, (database, facts) => {
    if (noted === String(facts.version)) return "as it was";
    return database.prepare(sameQuery(facts, place.tables)).get()?.["same"] === 1
      ? "restored"
      : "unknown";
  });
}

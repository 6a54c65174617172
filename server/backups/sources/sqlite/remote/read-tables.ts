// Reads facts about the tables of a live SQLite database on another machine, and of the backup beside it.
import { Readable } from "node:stream";
import { toError } from "../../../../to-error.ts";
import { sqliteError } from "../failures.ts";
import type { PlaceState } from "../place.ts";
import { factsQuery, kept, readFacts, type Facts } from "../tables-facts.ts";
import { sameQuery, wordsOf } from "../tables-script.ts";
import { copyName } from "./check.ts";
import { ask, refuseFailure, type Target } from "./shell.ts";

export const attach = `attach '${copyName}' as ${kept};\n`;

const askBoth = `cd -- "$parent/$1" || exit 1
both() { q -bail -readonly "$real"; }
step both`;

/** @returns the lines of the result. @throws SourceError, ServerAway, or the signal's reason */
async function query(
  target: Target,
  folder: string,
  sql: string,
  signal: AbortSignal,
): Promise<string[]> {
  const input = Readable.from([`${attach}${sql};\n`], { objectMode: false });
  const { step } = await ask(target, askBoth, [folder], { input, signal });
  const answer = step();
  refuseFailure(target.path, { ...answer, text: wordsOf(answer.text) });
  return answer.text.split("\n").filter((line) => line !== "");
}

export const factsThere = async (
  target: Target,
  folder: string,
  signal: AbortSignal,
): Promise<Facts> => readFacts(await query(target, folder, factsQuery, signal));

/** @throws SourceError with the reason why a script cannot be built */
export function inWords<Result>({ path }: Target, make: () => Result): Result {
  try {
    return make();
  } catch (error) {
    throw sqliteError(path, toError(error).message, 0);
  }
}

type Noted = { folder: string; tables: readonly string[]; note: string };

/** Determines whether an interrupted restore of tables was completed. */
export async function tellTablesThere(
  target: Target,
  { folder, tables, note }: Noted,
  signal: AbortSignal,
): Promise<PlaceState> {
  const facts = await factsThere(target, folder, signal);
  if (note === String(facts.version)) return "as it was";
  const same = inWords(target, () => sameQuery(facts, tables));
  const [answer] = await query(target, folder, same, signal);
  return answer === "1" ? "restored" : "unknown";
}

// Restores single tables of a checked copy into a live SQLite database of another machine, in one transaction of its own `sqlite3`.
import { Readable } from "node:stream";
import { tablesScript, wordsOf } from "../tables-script.ts";
import { attach, factsThere, inWords } from "./read-tables.ts";
import { enter } from "./settle.ts";
import { ask, refuseFailure, type Target } from "./shell.ts";

const bring = `${enter}bring() { q -bail "$real"; }
step note "$2" || exit 0
step bring || exit 0
leave "$1"`;

type Placed = { folder: string; tables: readonly string[] };

/** @throws SourceError that describes SQLite's error, ServerAway, or the signal's reason before anything is changed */
export async function placeTablesThere(
  target: Target,
  { folder, tables }: Placed,
  signal: AbortSignal,
): Promise<void> {
  const facts = await factsThere(target, folder, signal);
  const script = inWords(target, () => tablesScript(facts, tables));
  signal.throwIfAborted();
  // Without the signal: after an abort, it would be unknown whether the transaction was committed.
  const input = Readable.from([`pragma foreign_keys = off;\n${attach}${script}\n`], {
    objectMode: false,
  });
  const { step } = await ask(target, bring, [folder, String(facts.version)], { input });
  refuseFailure(target.path, step());
  const brought = step();
  refuseFailure(target.path, {
    ...brought,
    text: wordsOf(brought.text),
  });
}

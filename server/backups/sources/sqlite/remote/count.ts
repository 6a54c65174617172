// How many rows a SQLite database on another machine has now: asked before something is restored over it.
import { countsIn, countsQuery } from "./check.ts";
import { ask, refuseFailure, type Target } from "./shell.ts";
import { refuseState } from "./survey.ts";

const script = `s=$(look); tell "$s"
[ "$s" != open ] || { statements=$(q -readonly "$real" "$1"); step q -readonly "$real" "$statements"; }`;

/** @returns rows by table of the live database; null when it is not there. @throws SourceError */
export async function countThere(
  target: Target,
  signal: AbortSignal,
): Promise<Record<string, number> | null> {
  const { word, step } = await ask(target, script, [countsQuery], { signal });
  const state = word();
  if (state === "missing") return null;
  refuseState(state, target);
  const counts = step();
  refuseFailure(target.path, counts);
  return countsIn(counts);
}

// Restores that were cut off and could not be put in order then, e.g. because their server was away: settled before the next
// backup or restore, which they must not stop unless they stand in its way.
import { readdir } from "node:fs/promises";
import { toError } from "../../../to-error.ts";
import { SourceError, type Source } from "../source.ts";
import { isNotAllowed } from "./errors.ts";
import { readPlan, type Names } from "./plan.ts";

type Leftovers = {
  /** Where the plans are. */
  scratchFolder: string;
  /** What the name of a plan's file begins with. */
  prefix: string;
  /** What they were into, for people. */
  shown: string;
  namesFor(id: number): Pick<Names, "planFile">;
  settle(attempt: Parameters<Source["settle"]>[0]): ReturnType<Source["settle"]>;
};

/** Plans of restores that run in this process: theirs is no leftover. */
export const running = new Set<string>();

/** @returns sentences on those that could not be settled and that a later restore would be undone by */
export async function settleLeftovers(
  { scratchFolder, prefix, shown, namesFor, settle }: Leftovers,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<string[]> {
  const inTheWay: string[] = [];
  for (const file of await readdir(scratchFolder).catch(() => [])) {
    const id = Number.parseInt(file.slice(prefix.length), 10);
    const { planFile } = namesFor(id);
    if (!planFile.endsWith(`/${file}`) || running.has(planFile)) continue;
    try {
      const state = await settle({ id, say, signal });
      say(`A restore of backup ${id} that was cut off is settled: ${shown} is ${state}.`);
    } catch (error) {
      signal.throwIfAborted();
      const { message } = toError(error);
      const plan = await readPlan<{ state: string }>({ planFile }).catch(() => null);
      if (plan?.state === "done" || plan?.state === "undone") say(`Warning: ${message}`);
      else {
        const rights = isNotAllowed(error)
          ? ` Give the account all privileges on it, and on \`quarterdeck\\_%\`.`
          : "";
        const told = `the restore of backup ${id} was cut off, and can be neither completed nor undone: ${message} Until it is, ${shown} stays as it is now, and its old tables may be in quarterdeck_old_${id}…, so don't drop that.${rights}`;
        say(`Warning: ${told} Quarterdeck tries again before the next backup or restore.`);
        inTheWay.push(told);
      }
    }
  }
  return inTheWay;
}

/** Before a restore: one that is undone later would take its place. @throws SourceError */
export async function refuseLeftovers(
  leftovers: Leftovers,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const [first] = await settleLeftovers(leftovers, say, signal);
  if (first !== undefined) throw new SourceError(`Nothing was changed: ${first}`);
}

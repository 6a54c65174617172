// Settles interrupted restores that could not be cleaned up at the time, e.g. because their server was down, before the next backup
// or restore. They stop that only where they conflict with it.
import { readdir } from "node:fs/promises";
import { toError } from "../../../to-error.ts";
import { serverNamesOf } from "../mysql-server/plan.ts";
import { createServerRestore } from "../mysql-server/restore.ts";
import { SourceError, type Source } from "../source.ts";
import type { MysqlClient } from "./client.ts";
import { isNotAllowed } from "./errors.ts";
import { namesOf, readPlan, type Names, type NamesOf } from "./plan.ts";
import { createMysqlRestore } from "./restore.ts";

/** Leftovers of restores into one target: a database, or a whole server. */
type Leftovers = {
  /** Prefix of the name of a plan's file. */
  prefix: string;
  /** The target, for people. */
  shown: string;
  namesFor(id: number): Pick<Names, "planFile">;
  settle(attempt: Parameters<Source["settle"]>[0]): ReturnType<Source["settle"]>;
};

export function leftoversIn(
  options: Parameters<typeof createMysqlRestore>[0],
  of: NamesOf,
): Leftovers[] {
  const { place } = options.client;
  return alsoOfEarlier(of).map((one) => {
    const namesFor = (id: number) => namesOf(place, one, id);
    return {
      prefix: "mysql-",
      shown: place.database,
      namesFor,
      settle: (attempt) => createMysqlRestore(options, namesFor(attempt.id)).settle(attempt),
    };
  });
}

/** Includes restores that an earlier version began, whose names lack the installation. */
const alsoOfEarlier = (of: NamesOf): NamesOf[] =>
  of.installation === undefined ? [of] : [of, { scratchFolder: of.scratchFolder }];

/** Returns the names of an interrupted restore: those of this version or, where it left its plan, of an earlier version. */
export async function namesLeft<Left extends Pick<Names, "planFile">>(
  of: NamesOf,
  namesFor: (of: NamesOf) => Left,
): Promise<Left> {
  const earlier = namesFor({ scratchFolder: of.scratchFolder });
  return (await readPlan<unknown>(earlier)) === null ? namesFor(of) : earlier;
}

/** Leftovers of restores of the whole server. They matter to a restore of one database, too, because they replace it. */
export function leftoversOfServer(
  client: MysqlClient,
  of: NamesOf,
  shown = "the whole server",
): Leftovers[] {
  return alsoOfEarlier(of).map((one) => {
    const namesFor = (id: number) => serverNamesOf(client.place, one, id);
    return {
      prefix: "mysql-server-",
      shown,
      namesFor,
      settle: (attempt) => createServerRestore(client, namesFor(attempt.id)).settle(attempt),
    };
  });
}

/** Plan files of restores that run in this process, which are no leftovers. */
export const running = new Set<string>();

/**
 * Settles what interrupted restores left.
 * @param all leftovers of every target that a restore would replace, or that contains its target
 * @returns sentences about those that could not be settled, and that would undo a later restore
 */
export async function settleLeftovers(
  scratchFolder: string,
  all: readonly Leftovers[],
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<string[]> {
  const inTheWay: string[] = [];
  const files = await readdir(scratchFolder).catch(() => []);
  const pairs = files.flatMap((file) => all.map((one) => ({ file, ...one })));
  for (const { file, prefix, shown, namesFor, settle } of pairs) {
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

/** Refuses a restore while leftovers exist, because undoing them later would replace its result. @throws SourceError */
export async function refuseLeftovers(...given: Parameters<typeof settleLeftovers>): Promise<void> {
  const [first] = await settleLeftovers(...given);
  if (first !== undefined) throw new SourceError(`Nothing was changed: ${first}`);
}

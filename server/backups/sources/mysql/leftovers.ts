// Restores that were cut off and could not be put in order then, e.g. because their server was away: settled before the next
// backup or restore, which they must not stop unless they stand in its way.
import { readdir } from "node:fs/promises";
import { toError } from "../../../to-error.ts";
import { serverNamesOf } from "../mysql-server/plan.ts";
import { createServerRestore } from "../mysql-server/restore.ts";
import { SourceError, type Source } from "../source.ts";
import type { MysqlClient } from "./client.ts";
import { isNotAllowed } from "./errors.ts";
import { namesOf, readPlan, type Names, type NamesOf } from "./plan.ts";
import { createMysqlRestore } from "./restore.ts";

/** What restores into one thing may have left: a database, or all of a server. */
type Leftovers = {
  /** What the name of a plan's file begins with. */
  prefix: string;
  /** What they were into, for people. */
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

/** A restore that an earlier version began has names without the installation. */
const alsoOfEarlier = (of: NamesOf): NamesOf[] =>
  of.installation === undefined ? [of] : [of, { scratchFolder: of.scratchFolder }];

/** The names of a restore that was cut off. @param namesFor those of the service, or of an earlier version */
export async function namesLeft<Left extends Pick<Names, "planFile">>(
  of: NamesOf,
  namesFor: (of: NamesOf) => Left,
): Promise<Left> {
  const earlier = namesFor({ scratchFolder: of.scratchFolder });
  return (await readPlan<unknown>(earlier)) === null ? namesFor(of) : earlier;
}

/** Of restores of the whole server. A restore of one of its databases heeds them too, because they replace it. */
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

/** Plans of restores that run in this process: theirs is no leftover. */
export const running = new Set<string>();

/**
 * @param all of everything that a restore would replace, or be replaced with
 * @returns sentences on those that could not be settled and that a later restore would be undone by
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

/** Before a restore: one that is undone later would take its place. @throws SourceError */
export async function refuseLeftovers(...given: Parameters<typeof settleLeftovers>): Promise<void> {
  const [first] = await settleLeftovers(...given);
  if (first !== undefined) throw new SourceError(`Nothing was changed: ${first}`);
}

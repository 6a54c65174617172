// Matches backups of an earlier installation with entries of the inventory. Pure.
import type { AdoptableSource } from "../../../contract/backups/adoption.ts";

/** A source, as named in a manifest. */
export type OldSource = Pick<AdoptableSource, "type" | "engine" | "name" | "server">;

/** An entry of the inventory. */
export type AdoptionTarget = {
  type: OldSource["type"];
  engine: OldSource["engine"];
  id: number;
  name: string;
  serverId: number;
  server: string;
};

export type Match = { target: AdoptionTarget } | { problem: string };

export const keyOfSource = ({ type, engine, name, server }: OldSource): string =>
  JSON.stringify([type, engine, name, server]);

const engineWords = {
  postgres: "PostgreSQL database",
  "postgres-server": "PostgreSQL server",
  mysql: "MySQL or MariaDB database",
  "mysql-server": "MySQL or MariaDB server",
  sqlite: "SQLite database",
  folder: "site",
} as const satisfies Record<OldSource["engine"], string>;

const isSame = (source: OldSource, target: AdoptionTarget): boolean =>
  source.type === target.type && source.engine === target.engine && source.name === target.name;

/**
 * Matches by kind, name and name of the server. Where no server has that name any more, the only entry of the kind and name matches,
 * unless it also matches other backups: a restore into the database of another server must not happen.
 * @param servers the names of all
 * @returns matches by `keyOfSource`
 */
export function matchSources(
  sources: readonly OldSource[],
  targets: readonly AdoptionTarget[],
  servers: ReadonlySet<string>,
): Map<string, Match> {
  const exact = (source: OldSource) =>
    targets.filter((target) => isSame(source, target) && target.server === source.server);
  const taken = new Set(sources.flatMap(exact));
  const isMoved = (source: OldSource) => !servers.has(source.server);

  function match(source: OldSource): Match {
    const kind = engineWords[source.engine];
    const wanted = `${kind} “${source.name}”`;
    const [here, ...others] = exact(source);
    if (here !== undefined && others.length === 0) return { target: here };
    if (here !== undefined)
      return {
        problem: `Several entries of the inventory are a ${wanted} on server “${source.server}”. Give all but the right one another name, then adopt again.`,
      };
    const elsewhere = targets.filter((target) => isSame(source, target));
    if (!isMoved(source))
      return {
        problem: `The inventory has no ${wanted} on server “${source.server}”${elsewhere.length === 0 ? "" : ", only on another one"}. Add it, then adopt again.`,
      };
    const free = elsewhere.filter((target) => !taken.has(target));
    const [only, ...more] = free;
    if (only === undefined)
      return {
        problem:
          elsewhere.length === 0
            ? `The inventory has no ${wanted}. Add it, then adopt again.`
            : `The inventory has neither a server “${source.server}” nor another ${wanted}. Add it, then adopt again.`,
      };
    const claims = sources.filter(
      (other) => isMoved(other) && isSame(other, only) && exact(other).length === 0,
    );
    if (more.length === 0 && claims.length === 1) return { target: only };
    return {
      problem: `Quarterdeck can't determine which ${wanted} of the inventory this is. Give the server of the right one the name “${source.server}”, then adopt again.`,
    };
  }

  return new Map(sources.map((source) => [keyOfSource(source), match(source)]));
}

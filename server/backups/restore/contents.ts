// Describes the content of a backup, and what a restore would replace.
import type { BackupContents, CurrentContents } from "../../../contract/backups/contents.ts";
import type { DatabaseRow, SiteRow } from "../../inventory/store.ts";
import type { BackupRow } from "../backup-store.ts";
import type { ConfigurationStore } from "../configuration-store.ts";
import { operatorMessage } from "../failure-message.ts";
import type { Resolver } from "../resolver.ts";
import { isEmpty } from "./restore-destination.ts";
import { tablesIn } from "../sources/whole-server/names.ts";
import type { Manifest } from "../sources/source.ts";
import { columnsOf, engineOfPath } from "../subject.ts";

type ContentsOptions = {
  configurations: Pick<ConfigurationStore, "saverOf">;
  resolver: Pick<Resolver, "destination">;
};

type DatabaseManifest = Extract<Manifest, { kind: "database" }>;

/** Limit, because a person waits for the response. */
const lookMs = 25_000;

const toTables = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([name, rows]) => ({ name, rows }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));

const toDatabases = ({ databases = [], tables }: DatabaseManifest) =>
  databases.map((name) => ({ name, tables: toTables(tablesIn(name, tables)) }));

export function contentsOfBackup({
  path,
  manifest: written,
}: Pick<BackupRow, "path" | "manifest">): BackupContents {
  // Was stored as a manifest; older rows have none.
  const manifest = written as Manifest | null;
  const isFolder = manifest?.kind === "folder";
  return {
    engine: engineOfPath(path),
    tables: manifest?.kind === "database" ? toTables(manifest.tables) : null,
    ...(manifest?.kind === "database" &&
      manifest.databases !== undefined && { databases: toDatabases(manifest) }),
    entries: isFolder ? manifest.entries : null,
    bytes: isFolder ? manifest.bytes : null,
  };
}

export const createCurrentContents =
  ({ configurations, resolver }: ContentsOptions) =>
  /** @param ending aborted when the client disconnects */
  async (target: DatabaseRow | SiteRow, ending: AbortSignal): Promise<CurrentContents> => {
    const columns = columnsOf(target);
    const saver = await configurations.saverOf(columns);
    const found: CurrentContents = {
      is_empty: null,
      tables: null,
      saved_by: saver === null ? null : { id: saver.id, name: saver.name },
      problem: null,
    };
    const limit = AbortSignal.timeout(lookMs);
    const signal = AbortSignal.any([ending, limit]);
    try {
      const source = await resolver.destination({
        ...columns,
        database: null,
        keeps_owners: true,
      });
      found.is_empty = await isEmpty(source, signal);
      const counts = (await source.countRows?.(signal)) ?? null;
      found.tables = counts === null ? null : toTables(counts);
      return found;
    } catch (error) {
      const problem = limit.aborted
        ? `It didn't answer within ${lookMs / 1000} seconds.`
        : operatorMessage(error);
      if (problem === null) throw error;
      return { ...found, problem };
    }
  };

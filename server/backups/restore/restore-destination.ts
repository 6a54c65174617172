// Where a restore goes: back into the backup's own source, into another database or site of the inventory, or into a
// database that it makes. And what saves the data that is there.
import type { RestoreDestination } from "../../jobs/job-data.ts";
import type { BackupRow } from "../backup-store.ts";
import type { ConfigurationRow, ConfigurationStore } from "../configuration-store.ts";
import { targetInWords } from "../event-data.ts";
import type { Resolver } from "../resolver.ts";
import { excludedIn } from "../sources/folder/excludes.ts";
import { databaseTaken, SourceError, type Manifest, type Source } from "../sources/source.ts";
import type { TaskRow } from "../tasks/task-store.ts";

type DestinationsOptions = {
  configurations: Pick<ConfigurationStore, "saverOf">;
  resolver: Pick<Resolver, "source" | "destination">;
};

/** A database that is being made, or whose data no configuration saves. */
type Unsaved = Pick<RestoreDestination, "database"> & { name: string };

/** Whether a restore would replace nothing. @throws SourceError */
export const isEmpty = async (source: Source, signal: AbortSignal): Promise<boolean> =>
  source.isEmpty === undefined ? !(await source.exists()) : source.isEmpty(signal);

/** @throws SourceError where a restore would lose data that nothing saves */
export async function refuseUnsaved(
  source: Source,
  { database, name }: Unsaved,
  signal: AbortSignal,
): Promise<void> {
  if (database !== null) {
    if (await source.exists()) throw databaseTaken({ name, database });
    return;
  }
  if (!(await isEmpty(source, signal)))
    throw new SourceError(
      `${name} holds data, and no backup configuration saves it before the restore. Nothing was changed. Set up a backup of ${name}, or restore without a backup of its current data.`,
    );
}

export function createDestinations({ configurations, resolver }: DestinationsOptions) {
  return {
    /** @throws SourceError when the inventory has it no more, or its secret is not there */
    open: (
      { destination }: Pick<TaskRow, "destination">,
      configuration: ConfigurationRow,
      { trigger }: Pick<BackupRow, "trigger">,
    ): Promise<Source> => {
      if (destination !== null) return resolver.destination(destination);
      if (trigger !== "import") return resolver.source(configuration);
      // It names roles of a server that nobody knows.
      const { database_id, site_id } = configuration;
      return resolver.destination({ database_id, site_id, database: null, keeps_owners: false });
    },

    /** The configuration that saves what is there; null = there is none, or nothing is there yet. */
    async saverOf(
      { destination }: Pick<TaskRow, "destination">,
      configuration: ConfigurationRow,
    ): Promise<ConfigurationRow | null> {
      if (destination === null) return configuration;
      return destination.database === null ? configurations.saverOf(destination) : null;
    },
  };
}

export type Destinations = ReturnType<typeof createDestinations>;

/** Whose files a backup's were is said by numbers, which mean somebody else elsewhere. */
export function manifestFor(
  { manifest: written }: Pick<BackupRow, "manifest">,
  destination: RestoreDestination | null,
): Manifest | null {
  // What was written as a manifest is read as one; older rows have none.
  const manifest = written as Manifest | null;
  if (destination === null || manifest?.kind !== "database") return manifest;
  const { file: _, ...rest } = manifest;
  return rest;
}

/**
 * What a restore leaves as it is need not be saved, and what it replaces has to be: so the backup before it leaves out what the
 * restored one does, whatever its configuration says by now.
 */
export function savedWith({
  manifest,
}: Pick<BackupRow, "manifest">): Pick<ConfigurationRow, "exclude" | "exclude_caches"> {
  const excluded = excludedIn(manifest);
  return { exclude: [...(excluded?.patterns ?? [])], exclude_caches: excluded?.caches ?? false };
}

/** What a restore says first of one that does not go back. */
export const sayDestination = (target: NonNullable<BackupRow["restore_target"]>): string =>
  target.part === null
    ? `Restoring into ${targetInWords(target)}.`
    : `Restoring ${targetInWords(target)} alone.`;

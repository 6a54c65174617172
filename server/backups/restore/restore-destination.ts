// Resolves the destination of a restore: the backup's own source, another database or site of the inventory, or a new database. Also
// finds the configuration that saves the present data.
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

/** A new database, or one whose data no configuration saves. */
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
    /** @throws SourceError where it is no longer in the inventory, or its secret is missing */
    open: (
      { destination }: Pick<TaskRow, "destination">,
      configuration: ConfigurationRow,
      { trigger }: Pick<BackupRow, "trigger">,
    ): Promise<Source> => {
      if (destination !== null) return resolver.destination(destination);
      if (trigger !== "import") return resolver.source(configuration);
      // An imported backup names roles of an unknown server.
      const { database_id, site_id } = configuration;
      return resolver.destination({ database_id, site_id, database: null, keeps_owners: false });
    },

    /** Returns the configuration that saves the present data; null = there is none, or no data yet. */
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

/** Returns the manifest without the file's owner for another destination, where its numeric ids mean other accounts. */
export function manifestFor(
  { manifest: written }: Pick<BackupRow, "manifest">,
  destination: RestoreDestination | null,
): Manifest | null {
  // Was stored as a manifest; older rows have none.
  const manifest = written as Manifest | null;
  if (destination === null || manifest?.kind !== "database") return manifest;
  const { file: _, ...rest } = manifest;
  return rest;
}

/**
 * Returns the excludes of the safety backup: those of the restored backup, not of the configuration, so that it saves exactly what the
 * restore replaces.
 */
export function savedWith({
  manifest,
}: Pick<BackupRow, "manifest">): Pick<ConfigurationRow, "exclude" | "exclude_caches"> {
  const excluded = excludedIn(manifest);
  return { exclude: [...(excluded?.patterns ?? [])], exclude_caches: excluded?.caches ?? false };
}

/** Returns the first line of output of a restore into another destination. */
export const sayDestination = (target: NonNullable<BackupRow["restore_target"]>): string =>
  target.part === null
    ? `Restoring into ${targetInWords(target)}.`
    : `Restoring ${targetInWords(target)} alone.`;
